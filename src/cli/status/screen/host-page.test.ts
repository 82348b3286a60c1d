import { expect, test } from 'vitest';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import type { JourneyName, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configureSteps } from '#node/lifecycle/configure/steps.ts';
import {
  at,
  condition,
  failure,
  hostIn,
  instanceOf,
  longName,
  nodeOf,
  noonMs,
  type StateName,
  step,
  statuses,
  viewOf,
} from '../../../../test/kit/status-views.ts';
import { hostPage } from './host-page.ts';
import { hostViews } from '../view/cluster-hosts.ts';
import type { HostView } from '../view/host-view.ts';
import { hostOfInstance } from '../view/instance-host.ts';
import { paintFor } from './paint.ts';
import { widthOf } from './text-width.ts';

const nowMs = noonMs + 20_000;
const page = (host: HostView, columns?: number) => hostPage(host, { nowMs, ...(columns !== undefined && { columns }) });
const textOf = (host: HostView) => page(host).join('\n');
const of = (status: WindowsInstanceStatus, spec = {}) =>
  hostOfInstance(instanceOf('10.0.0.1', status, spec), viewOf({ unread: ['nodes'] }));

test('shows request and cause of a removal, and only its own steps', () => {
  const journey = { name: 'remove', cause: 'its entry was deleted', started: '2026-03-01T12:00:00Z' } as const;
  const status: WindowsInstanceStatus = { phase: 'Removing', step: 'drain', journey, timeline: [step('drain', 0)] };
  const instance = instanceOf('10.0.0.1', status);
  const { removal, forceRemoval } = instanceAnnotation;
  instance.metadata.annotations = { [removal]: '2026-03-01T12:00:00Z', [forceRemoval]: 'true' };
  const text = textOf(hostOfInstance(instance, viewOf()));
  expect(text).toMatch(/^ {2}Removal +requested 2026-03-01T12:00:00Z, its entry was deleted, by force$/m);
  expect(text).toMatch(/^ {2}drain +started/m);
  expect(text).not.toContain('not needed');
});

test('the page begins with name and phase', () => {
  expect(page(hostIn('ready'))[0]).toBe('10.0.0.1  Ready');
  expect(page(hostIn('failed', longName))[0]).toBe(`${longName}  Failed`);
});

const sources: [string, HostView['source'], RegExp][] = [
  ['an entry', { kind: 'ConfigMap', name: 'Win1.' }, /Managed by {2}entry Win1\. of ConfigMap windows-instances/],
  ['a Machine', { kind: 'Machine', name: 'm1' }, /Managed by {2}Machine m1/],
  [
    'an administrator',
    { kind: 'Direct', name: 'x' },
    /Managed by {2}WindowsInstance 10\.0\.0\.1, created by an administrator/,
  ],
];
for (const [name, source, want] of sources) {
  test(`shows that the host is managed by ${name}`, () =>
    expect(textOf(hostIn('ready', '10.0.0.1', { source }))).toMatch(want));
}

const reaches: [string, HostView, string][] = [
  ['an address', of({}), '10.0.0.1, port 22, as Administrator'],
  [
    'a name and what it resolved to',
    of({ ipv4: '10.0.0.9' }, { address: 'w.example.com' }),
    'w.example.com (10.0.0.9), port 22, as Administrator',
  ],
  ['another port', of({}, { port: 2222 }), '10.0.0.1, port 2222, as Administrator'],
];
for (const [name, host, want] of reaches) {
  test(`shows that the host is reached at ${name}`, () =>
    expect(textOf(host)).toContain(`  Reached at  ${want}\n`.trimEnd()));
}

test('omits the address of a Machine without one', () => {
  const [host] = hostViews(viewOf({ machines: [{ metadata: { name: 'm1' } }] }));
  expect(page(host as HostView)).toEqual([
    'm1  Pending',
    '  Managed by  Machine m1',
    '  Note        waiting for the cloud provider',
  ]);
});

test('shows which object holds the host key', () => {
  const hostKey = { type: 'ssh-ed25519', fingerprint: 'SHA256:abc', where: 'ConfigMap windows-ssh-host-keys' };
  expect(textOf(hostIn('ready', 'a', { hostKey }))).toContain(
    '  Host key    ssh-ed25519 SHA256:abc, in ConfigMap windows-ssh-host-keys',
  );
  expect(textOf(hostIn('ready'))).not.toContain('Host key');
});

const nodes: [string, Parameters<typeof nodeOf>[1], RegExp][] = [
  ['is Ready and schedulable', {}, /Node {8}win-1: Ready, schedulable$/m],
  ['is not Ready', { ready: false }, /Node {8}win-1: not Ready, schedulable$/m],
  ['is cordoned', { unschedulable: true }, /Node {8}win-1: Ready, cordoned by a user$/m],
  ['has its version', {}, /Version {5}v2$/m],
  [
    'is being upgraded',
    { annotations: { [nodeAnnotation.version]: 'v1', [nodeAnnotation.desiredVersion]: 'v2' } },
    /Version {5}v1, desired v2$/m,
  ],
];
for (const [name, over, want] of nodes) {
  test(`shows that the Node ${name}`, () => {
    const status = structuredClone(statuses.ready);
    const host = hostOfInstance(instanceOf('10.0.0.1', status), viewOf({ nodes: [nodeOf('win-1', over)] }));
    expect(textOf(host)).toMatch(want);
  });
}

test('shows the name of a Node that cannot be read', () => {
  expect(textOf(of({ node: 'win-1' }))).toMatch(/Node {8}win-1$/m);
});

test('shows the current step with what it waits for, and the time so far', () => {
  expect(textOf(hostIn('waiting'))).toMatch(
    /Step {8}find node: the kubelet registers its Node \(18 s, usually 30 s, limit 10 min\)$/m,
  );
  expect(textOf(hostIn('waiting'))).toMatch(/Time {8}20 s so far$/m);
  expect(textOf(hostIn('ready'))).toMatch(/Time {8}12 s$/m);
});

test('lists the steps in order: done, not needed, running, and how many are to come', () => {
  const lines = page(hostIn('configuring'));
  const table = lines.slice(lines.findIndex(line => line.startsWith('  STEP')));
  expect(table.slice(0, 3)).toEqual([
    '  STEP                 STATE       TIME',
    '  connect              done        1.0 s',
    '  queued               not needed',
  ]);
  expect(table.find(line => line.includes('stage programs'))).toBe(
    '  stage programs       running     18 s   [#####-----] 50 %, 18 s left, 167 kB/s, 3.0 of 6.0 MB',
  );
  const index = configureSteps.findIndex(({ name }) => name === 'stage programs');
  expect(table).toContain(`  … ${configureSteps.length - index - 1} steps to come`);
});

const journeys: [JourneyName, done: string, running: string, coming: string[]][] = [
  [
    'upgrade',
    'budget',
    'drain',
    ['activate to come usually 30 s, limit 10 min', 'wait for agent to come usually 60 s, limit 5 min'],
  ],
  ['rollback', 'connect', 'activate', ['wait for version to come usually 60 s, limit 5 min']],
  [
    'reboot',
    'cordon',
    'drain',
    ['reboot to come usually 3 min, limit 45 min', 'uncordon to come usually 15 s, limit 2 min'],
  ],
  ['remove', 'cordon', 'drain', ['delete instance to come usually 15 s, limit 2 min']],
];
for (const [name, done, running, coming] of journeys) {
  test(`lists the steps to come of ${name} with their times`, () => {
    const timeline = [step(done, 0, 1), step(running, 1)];
    const host = of({ journey: { name, cause: '', started: at(0) }, step: running, timeline });
    const lines = page(host).map(line => line.trim().replaceAll(/ +/g, ' '));
    for (const line of coming) expect(lines).toContain(line);
  });
}

test('the steps of another path of an upgrade come where they ran', () => {
  const timeline = [step('budget', 0, 1), step('prepare agent', 1, 2), step('cordon', 2)];
  const text = textOf(of({ journey: { name: 'upgrade', cause: '', started: at(0) }, timeline }));
  expect(text).toMatch(/^ {2}budget +done[^]*^ {2}prepare agent +done[^]*^ {2}cordon +started[^]*^ {2}drain +to come/m);
});

test('a Ready host that was upgraded has no steps of the journey that configured it', () => {
  const text = textOf(of({ phase: 'Ready', timeline: [step('activate', 0, 1), step('uncordon', 1, 2)] }));
  expect(text).toContain('  activate');
  expect(text).not.toContain('bootstrap');
});

test('every step of a Ready host is done or not needed', () => {
  const text = textOf(hostIn('ready'));
  for (const { name } of configureSteps) expect(text).toMatch(new RegExp(`^  ${name} +(done|not needed)`, 'm'));
  expect(text).not.toContain('to come');
});

test('lists steps of other operator versions', () => {
  const timeline = [step('connect', 0, 1), step('dance', 1, 3)];
  expect(textOf(of({ phase: 'Ready', timeline }))).toMatch(/^ {2}dance +done +2\.0 s$/m);
});

test('a host that was never configured has no steps', () => {
  for (const state of ['fresh', 'refused', 'paused'] as const) expect(textOf(hostIn(state))).not.toContain('STEP');
});

const rows: [string, WindowsInstanceStatus, RegExp][] = [
  ['a step that failed', statuses.failed, /^ {2}connect +failed +HOST_REFUSED_KEY, 3 attempts$/m],
  ['a step that is retried', statuses.retrying, /^ {2}connect +running +18 s +4 attempts$/m],
  [
    'a step that took two attempts',
    { phase: 'Ready', timeline: [step('connect', 0, 9, { attempts: 2 })] },
    /^ {2}connect +done +9\.0 s +2 attempts$/m,
  ],
  [
    'a step that was interrupted',
    { phase: 'Configuring', step: 'connect', timeline: [step('connect', 0), step('prepare files', 1)] },
    /^ {2}prepare files +started$/m,
  ],
  [
    'a step with times that cannot be read',
    {
      phase: 'Ready',
      timeline: [{ name: 'connect', started: 'x', finished: 'y', attempts: 1 }, step('prepare files', 0, 1)],
    },
    /^ {2}connect +done$/m,
  ],
];
for (const [name, status, want] of rows) {
  test(`lists ${name}`, () => expect(textOf(of(structuredClone(status)))).toMatch(want));
}

test('prints the problem first, with the time of the next attempt', () => {
  const lines = page(hostIn('failed'));
  const start = lines.findIndex(line => line === 'Problem: HOST_REFUSED_KEY');
  expect(lines.slice(start, start + 7)).toEqual([
    'Problem: HOST_REFUSED_KEY',
    '  the host does not let us in',
    '  -> Put the key there.',
    '  Retried automatically by 12:00:30 UTC, within 10 s.',
    '  To retry now:',
    '    kubectl annotate wi 10.0.0.1 -n ns \\',
    '      --overwrite windowsmachineconfig.openshift.io/retry="$(date)"',
  ]);
  expect(start).toBeLessThan(lines.findIndex(line => line.includes('STEP')));
});

test('prints no remaining time for an overdue attempt', () => {
  const host = hostIn('failed', 'a', { nextAttemptMs: noonMs });
  expect(textOf(host)).toContain('Retried automatically by 12:00:00 UTC.');
});

test('does not call waiting a problem', () => {
  expect(textOf(hostIn('booting'))).toContain('Waiting: HOST_UNREACHABLE');
});

test('lists conditions with their age, without messages that are printed above', () => {
  const conditions = [
    condition('Accepted', 'True', 'Fine', 'all is well'),
    condition('Configured', 'False', failure.code, 'the long text'),
    { ...condition('Odd', 'Unknown', 'Strange'), lastTransitionTime: 'x' },
  ];
  const text = textOf(of({ ...structuredClone(statuses.failed), conditions }));
  expect(text).toMatch(/^ {2}Accepted +True +Fine +20 s +all is well$/m);
  expect(text).toMatch(/^ {2}Configured +False +HOST_REFUSED_KEY +20 s$/m);
  expect(text).toMatch(/^ {2}Odd +Unknown +Strange +Strange it is$/m);
  expect(text).not.toContain('the long text');
});

test('separates sections by one empty line, and no line ends in blanks', () => {
  for (const state of Object.keys(statuses) as StateName[]) {
    const text = textOf(hostIn(state));
    expect(text).not.toMatch(/\n\n\n|[ ]\n|\n$/);
  }
});

test('tables and problems fit narrow terminals', () => {
  for (const columns of [30, 50, 80]) {
    const lines = page(hostIn('configuring'), columns).filter(line => /^ {2}\S+ .*(done|under|nothing)/.test(line));
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
  }
});

test('has colors on a terminal', () => {
  const paint = paintFor({ size: () => ({ columns: 80, rows: 24 }), environment: {} });
  const lines = hostPage(hostIn('failed'), { nowMs, paint });
  expect(lines[0]).toBe('\u001b[1m10.0.0.1\u001b[0m  \u001b[31mFailed\u001b[0m');
  expect(lines.join('\n')).toContain('\u001b[31mHOST_REFUSED_KEY\u001b[0m');
});
