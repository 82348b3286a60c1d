/* oxlint-disable no-control-regex -- escapes are what is looked for */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { parse } from 'yaml';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { deployments, nodes } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { instanceOf, type RecordedTerminal, recordedTerminal, statuses } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import type { TerminalSize } from '../terminal.ts';
import { statusProgram } from './program.ts';

let folder: string;
let cluster: StatusCluster;
let kubeconfig: string;
const statusOf = (state: keyof typeof statuses) => structuredClone(statuses[state]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-program-'));
  cluster = await statusCluster();
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.sandbox.kubeconfig);
  await cluster.putInstance(instanceOf('10.0.0.1', statusOf('ready')));
  await cluster.putInstance(instanceOf('10.0.0.2', statusOf('failed')));
  await cluster.putInstance(instanceOf('win3.example.com', { ...statusOf('configuring'), ipv4: '10.0.0.3' }));
  await cluster.putNode('win-1');
  await cluster.list({ '10.0.0.1': 'username=a', 'win3.example.com': 'username=c', bad_name: 'username=d' });
  await cluster.lead(systemClock.now());
});
afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

interface Run {
  code: number;
  out: string;
  err: string;
}

/** As the command line calls it, with what that makes of errors. */
async function run(
  words: string[],
  terminal = recordedTerminal(undefined, { KUBECONFIG: kubeconfig }, systemClock),
): Promise<Run> {
  const program = { name: 'status', summary: '', run: (rest: readonly string[]) => statusProgram(rest, terminal) };
  const plain = { ...terminal, stdin: () => Promise.resolve(''), runtime: '' };
  const code = await main(['status', ...words], plain, [program]);
  return { code, out: terminal.text(), err: terminal.errors() };
}

test('lists all hosts, prints problems with remedies and exits with 1', async () => {
  const { code, out, err } = await run([]);
  expect([code, err]).toEqual([1, '']);
  expect(out).toMatch(/^10\.0\.0\.1 +win-1 +Ready/m);
  expect(out).toMatch(/^10\.0\.0\.2 +Failed +connect .*HOST_REFUSED_KEY, 3 attempts$/m);
  expect(out).toMatch(/^win3\.example\.com +Configuring +stage programs .* 3\.0 of 6\.0 MB \(50 %\)$/m);
  expect(out).toMatch(/^bad_name +Rejected +INSTANCE_ADDRESS_INVALID$/m);
  expect(out).toContain('4 hosts: 1 Ready, 1 in progress, 2 with a problem\n\n10.0.0.2: HOST_REFUSED_KEY\n');
  expect(out).not.toContain('Note:');
});

const chosen: [string, string, number][] = [
  ['10.0.0.1', '10.0.0.1  Ready', 0],
  ['WIN-1', '10.0.0.1  Ready', 0],
  ['10.0.0.3', 'win3.example.com  Configuring', 1],
  ['Win3.Example.com.', 'win3.example.com  Configuring', 1],
  ['10.0.0.2', '10.0.0.2  Failed', 1],
  ['bad_name', 'bad_name  Rejected', 1],
];
for (const [name, first, code] of chosen) {
  test(`shows the page of ${name}`, async () => {
    const result = await run([name]);
    expect([result.out.split('\n')[0], result.code]).toEqual([first, code]);
  });
}

test('-o json prints all hosts with all details', async () => {
  const { code, out } = await run(['-o', 'json']);
  const data = JSON.parse(out) as { hosts: { name: string; problem?: { code: string } }[]; notes: string[] };
  expect(code).toBe(1);
  expect(data.hosts.map(({ name, problem }) => [name, problem?.code])).toEqual([
    ['10.0.0.1', undefined],
    ['10.0.0.2', 'HOST_REFUSED_KEY'],
    ['bad_name', 'INSTANCE_ADDRESS_INVALID'],
    ['win3.example.com', undefined],
  ]);
  expect(data.notes).toEqual([]);
});

test('-o json with a host prints a list of one', async () => {
  const { code, out } = await run(['10.0.0.1', '-o', 'json']);
  expect(code).toBe(0);
  expect((JSON.parse(out) as { hosts: unknown[] }).hosts).toHaveLength(1);
});

const failures: [string, string[], number, RegExp][] = [
  [
    'an unknown host',
    ['win-99'],
    1,
    /^error: HOST_UNKNOWN: .*"win-99"\n {2}-> Use one of: 10\.0\.0\.1, 10\.0\.0\.2, bad_name, win3/,
  ],
  [
    'an output form that there is not',
    ['-o', 'xml'],
    2,
    /^error: --output is "xml", not text, wide, json, yaml or name/,
  ],
  ['unknown hosts', ['a', 'b'], 1, /^error: HOST_UNKNOWN: .*"a"/],
  [
    'a kubeconfig that is missing',
    ['--kubeconfig', '/nonexistent'],
    1,
    /^error: INPUT_UNREADABLE: kubeconfig \/nonexistent/,
  ],
  ['a context that is missing', ['--context', 'x'], 1, /x/],
];
for (const [name, words, code, want] of failures) {
  test(`${name} is an error with a remedy`, async () => {
    const result = await run(words);
    expect([result.code, result.out]).toEqual([code, '']);
    expect(result.err).toMatch(want);
  });
}

test('without a kubeconfig it prints how to pass one', async () => {
  const { code, err } = await run([], recordedTerminal(undefined, {}, systemClock));
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^error: no kubeconfig found.*\n {2}-> Use --kubeconfig FILE/),
  ]);
});

const elsewhere: [namespace: string, message: string][] = [
  ['default', 'no operator in namespace "default"'],
  ['nowhere', 'namespace "nowhere" does not exist'],
];
for (const [namespace, message] of elsewhere) {
  test(`-n ${namespace} is an error that names the namespace of the operator`, async () => {
    await cluster.putMachine(`healthy-in-${namespace}`, 'Running');
    for (const words of [
      ['-n', namespace],
      ['-w', '-n', namespace],
      ['-n', namespace, '-o', 'json'],
    ]) {
      const { code, out, err } = await run(words);
      expect([code, out]).toEqual([1, '']);
      expect(err).toBe(
        `error: OPERATOR_MISSING: ${message}; the operator was found in "${cluster.namespace}"\n  -> Use --namespace ${cluster.namespace}.\n`,
      );
    }
    await cluster.client.delete(machines, `healthy-in-${namespace}`, { namespace: 'openshift-machine-api' });
  });
}

test('a cluster without an operator is an error', async () => {
  await using empty = await statusCluster();
  const path = join(folder, 'empty');
  writeFileSync(path, empty.sandbox.kubeconfig);
  const { code, err } = await run(['--kubeconfig', path]);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: OPERATOR_MISSING: no operator in namespace "[^"]+"\n {2}-> Install/),
  ]);
});

test('an operator whose pod has never started is not reported as missing', async () => {
  await using empty = await statusCluster();
  const { namespace } = empty;
  const metadata = { name: 'windows-machine-config-operator', namespace };
  const labels = { name: metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'manager', image: 'none' }] } };
  await empty.client.create(deployments, { metadata, spec: { selector: { matchLabels: labels }, template } });
  const path = join(folder, 'installed');
  writeFileSync(path, empty.sandbox.kubeconfig);
  const { code, err } = await run(['--kubeconfig', path]);
  expect([code, err]).toEqual([
    1,
    `error: OPERATOR_MISSING: the operator in namespace "${namespace}" has never run\n` +
      `  -> Run \`kubectl get pods -n ${namespace}\`: its pod has not started.\n`,
  ]);
});

test('every Windows Node has a row, also after its entry is removed', async () => {
  const marks = { annotations: { 'windowsmachineconfig.openshift.io/version': 'v1' } };
  const labels = { 'kubernetes.io/os': 'windows' };
  const status = { addresses: [{ type: 'InternalIP', address: '10.0.0.77' }] };
  await cluster.putNode('forgotten', { metadata: { name: 'forgotten', labels, ...marks }, status });
  const { code, out } = await run([]);
  expect(code).toBe(1);
  expect(out).toMatch(/^forgotten +10\.0\.0\.77 +forgotten +Unmanaged +NodeUnmanaged$/m);
  expect((await run(['forgotten'])).out).toMatch(
    /-> To keep it, add the entry `\S+: username=NAME` to ConfigMap windows-instances/,
  );
  await cluster.client.delete(nodes, 'forgotten');
});

test('several hosts have a page each, once', async () => {
  const { code, out } = await run(['win-1', '10.0.0.2', '10.0.0.1']);
  expect(code).toBe(1);
  expect(out.match(/^\S+ {2}(Ready|Failed)$/gm)).toEqual(['10.0.0.1  Ready', '10.0.0.2  Failed']);
});

test('-o wide has further columns, for hosts by name as well', async () => {
  const { out } = await run(['-o', 'wide', '10.0.0.1']);
  const [heading = '', row = ''] = out.split('\n');
  expect(heading.split(/ {2,}/)).toEqual([
    'HOST',
    'SOURCE',
    'ADDRESS',
    'USER',
    'NODE',
    'VERSION',
    'PHASE',
    'STEP',
    'TIME',
    'DETAIL',
  ]);
  expect(row).toMatch(/^10\.0\.0\.1 +ConfigMap +10\.0\.0\.1 +Administrator +win-1 +v2 +Ready/);
});

test('--no-headers prints rows only', async () => {
  const { out } = await run(['--no-headers']);
  expect(
    out
      .trimEnd()
      .split('\n')
      .map(line => line.split(' ')[0]),
  ).toEqual(['10.0.0.1', '10.0.0.2', 'bad_name', 'win3.example.com']);
});

test('-o name prints objects that kubectl accepts', async () => {
  const { out } = await run(['-o', 'name']);
  expect(out).toBe(
    ['10.0.0.1', '10.0.0.2'].map(name => `windowsinstance.windowsmachineconfig.openshift.io/${name}\n`).join('') +
      'configmap/windows-instances\nwindowsinstance.windowsmachineconfig.openshift.io/win3.example.com\n',
  );
});

test('-o yaml prints the same data as -o json', async () => {
  const [json, yaml] = [await run(['-o', 'json']), await run(['-o', 'yaml'])];
  expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
});

/** Runs it until the text is there, then stops it. */
async function watched(
  words: string[],
  size: TerminalSize | undefined,
  act: (terminal: RecordedTerminal) => Promise<void>,
): Promise<Run> {
  const terminal = recordedTerminal(size, { KUBECONFIG: kubeconfig, NO_COLOR: '1' }, systemClock);
  const running = run(words, terminal);
  try {
    await act(terminal);
  } finally {
    terminal.stop();
  }
  return running;
}
const prints = (terminal: RecordedTerminal, text: string | RegExp) =>
  expect.poll(() => terminal.text(), { interval: 20 }).toMatch(text);

test('-w prints a line with the time of day for each change', async () => {
  const { code, out } = await watched(['-w'], undefined, async terminal => {
    await prints(terminal, /bad_name/);
    await cluster.putInstance(instanceOf('10.0.0.9', statusOf('ready')));
    await prints(terminal, /^\d\d:\d\d:\d\d {2}10\.0\.0\.9 +Ready as Node win-1 after 12 s$/m);
    await cluster.client.delete(windowsInstances, '10.0.0.9', { namespace: cluster.namespace });
    await prints(terminal, /10\.0\.0\.9 {2}is gone/);
  });
  expect(code).toBe(1);
  expect(out).toMatch(
    /10\.0\.0\.2 +Failed at connect: HOST_REFUSED_KEY\n +the host does not let us in\n +-> Put the key there\./,
  );
});

test('-w draws the table in place on a terminal', async () => {
  const { out } = await watched(['-w'], { columns: 70, rows: 30 }, async terminal => {
    await prints(terminal, /4 hosts: 1 Ready/);
    await cluster.putInstance(instanceOf('10.0.0.9', statusOf('ready')));
    await prints(terminal, /5 hosts: 2 Ready/);
    await cluster.client.delete(windowsInstances, '10.0.0.9', { namespace: cluster.namespace });
    await prints(terminal, /4 hosts: 1 Ready[^]*5 hosts[^]*4 hosts/);
  });
  expect(out).toMatch(/\u001b\[\d+A/);
  // The last table stays, in full.
  expect(out.slice(out.lastIndexOf('\u001b[?25h'))).toMatch(
    /HOST[^]*10\.0\.0\.1[^]*4 hosts: 1 Ready[^]*-> Put the key there\./,
  );
});

test('-w with a host shows its page on a terminal and exits by its state', async () => {
  const { code, out } = await watched(['-w', 'win-1'], { columns: 90, rows: 50 }, terminal =>
    prints(terminal, /uncordon/),
  );
  expect(code).toBe(0);
  expect(out).toContain('10.0.0.1  Ready');
});

test('-w -o json prints a JSON line for each change', async () => {
  const { out } = await watched(['-w', '-o', 'json'], undefined, async terminal => {
    await prints(terminal, /win3/);
    await cluster.putInstance(instanceOf('10.0.0.9', statusOf('ready')));
    await prints(terminal, /"10\.0\.0\.9".*Ready/);
    await cluster.client.delete(windowsInstances, '10.0.0.9', { namespace: cluster.namespace });
    await prints(terminal, /"name":"10\.0\.0\.9","phase":"Gone"/);
  });
  const lines = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { name: string; time: string });
  expect(lines.slice(0, 4).map(({ name }) => name)).toEqual(['10.0.0.1', '10.0.0.2', 'bad_name', 'win3.example.com']);
});

test('-w for a host that does not exist is an error at once', async () => {
  const { code, err } = await run(['-w', 'win-99']);
  expect([code, err]).toEqual([1, expect.stringMatching(/^error: HOST_UNKNOWN/)]);
});
