import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configMaps } from '#kube/resources.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import { instanceOf, recordedTerminal, statuses, step } from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import { rebootProgram } from './program.ts';

let folder: string;
let cluster: StatusCluster;
const { reboot } = instanceAnnotation;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-reboot-'));
  cluster = await statusCluster();
  writeFileSync(join(folder, 'kubeconfig'), cluster.sandbox.kubeconfig);
  await cluster.lead(systemClock.now());
  await cluster.putInstance(instanceOf('win-1', structuredClone(statuses.ready)));
  await cluster.putNode('win-1');
});
afterEach(async () => {
  await cluster[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

function run(words: string[]) {
  const recorded = recordedTerminal(undefined, { KUBECONFIG: join(folder, 'kubeconfig') }, systemClock);
  const program = { name: 'reboot', summary: '', run: (rest: readonly string[]) => rebootProgram(rest, recorded) };
  const code = main(['reboot', ...words], { ...recorded, stdin: () => Promise.resolve(''), runtime: '' }, [program]);
  const { text, errors, stop } = recorded;
  return {
    code,
    text,
    errors,
    stop,
    prints: (want: string | RegExp) => expect.poll(text, { interval: 20 }).toMatch(want),
  };
}

const inNamespace = () => ({ namespace: cluster.namespace });
const requested = async () =>
  (await cluster.client.get(windowsInstances, 'win-1', inNamespace())).metadata.annotations?.[reboot];
const write = (status: Omit<WindowsInstanceStatus, 'journey'> & { journey?: object | null }) =>
  cluster.client.patch(
    windowsInstances,
    'win-1',
    { type: 'merge', body: { status } },
    { ...inNamespace(), subresource: 'status' },
  );

test('requests a reboot, prints each step and ends when the Node is in service again', async () => {
  const rebooting = run(['win-1']);
  await rebooting.prints(/^Set .*\/reboot on WindowsInstance win-1\.\nThe operator drains Node win-1/);
  const journey = { name: 'reboot', cause: 'requested by annotation', started: '2026-07-01T12:00:00Z' };
  await write({ phase: 'Rebooting', step: 'drain', journey, timeline: [step('connect', 0, 1), step('drain', 1)] });
  await rebooting.prints(/^\d\d:\d\d:\d\d {2}connect\n\d\d:\d\d:\d\d {2}drain$/m);
  await write({ phase: 'Ready', journey: null, rebootRequest: (await requested()) ?? '' });
  expect(await rebooting.code).toBe(0);
  expect(rebooting.text()).toMatch(/Host win-1 was rebooted; Node win-1 is Ready\.\n$/);
});

test('a request that is canceled or replaced ends with 1', async () => {
  const rebooting = run(['win-1']);
  await rebooting.prints('The operator drains');
  const body = { metadata: { annotations: { [reboot]: 'another' } } };
  await cluster.client.patch(windowsInstances, 'win-1', { type: 'merge', body }, inNamespace());
  expect(await rebooting.code).toBe(1);
  expect(rebooting.text()).toContain('The request was canceled, or another one has replaced it.');
});

test('Ctrl-C leaves the request, and says how to cancel it', async () => {
  const rebooting = run(['win-1']);
  await rebooting.prints('The operator drains');
  rebooting.stop();
  expect(await rebooting.code).toBe(1);
  expect(rebooting.text()).toMatch(/The reboot goes on; .*kubectl annotate windowsinstance win-1 -n .*\/reboot-`\.\n$/);
  expect(await requested()).toMatch(/^\d{4}-.*Z$/);
});

test('--timeout ends the waiting with an error', async () => {
  const rebooting = run(['win-1', '--timeout', '1s']);
  expect(await rebooting.code).toBe(1);
  expect(rebooting.errors()).toMatch(/^error: REBOOT_UNFINISHED: host win-1 was not rebooted after 1\.0 s\n/);
});

test('--no-wait says what keeps the host waiting', async () => {
  const now = new Date(systemClock.now()).toISOString();
  await write({ reboots: [now, now, now] });
  const metadata = { name: configMapName.rollout, ...inNamespace() };
  await cluster.put(configMaps, { metadata, data: { paused: 'true' } });
  const rebooting = run(['win-1', '--no-wait']);
  expect(await rebooting.code).toBe(0);
  expect(rebooting.text()).toMatch(
    /rebooted 3 times in 24 h; the next reboot is after .* UTC\.\nThe roll-out is paused/,
  );
});

test('a reboot that has to wait for an administrator ends at once, and stays requested', async () => {
  const now = new Date(systemClock.now()).toISOString();
  await write({ reboots: [now, now, now] });
  const rebooting = run(['win-1']);
  expect(await rebooting.code).toBe(1);
  expect(rebooting.text()).toMatch(
    /rebooted 3 times in 24 h; .*\nThe reboot stays requested\. To cancel .*\/reboot-`\.\n$/,
  );
  expect(await requested()).toMatch(/Z$/);
});

const refused: [what: string, words: string[], code: number, want: RegExp][] = [
  ['no host', [], 2, /missing the host/],
  ['an unknown host', ['win-9'], 1, /HOST_UNKNOWN: .*\n {2}-> Use one of: joining, win-1\./],
  ['a host without a Node', ['joining'], 1, /REQUEST_REFUSED: host "joining" has no Node: it is Configuring/],
];
for (const [what, words, code, want] of refused) {
  test(`refuses ${what}`, async () => {
    await cluster.putInstance(instanceOf('joining', structuredClone(statuses.configuring)));
    const rebooting = run(words);
    expect([await rebooting.code, rebooting.errors()]).toEqual([code, expect.stringMatching(want) as string]);
    expect(await requested()).toBeUndefined();
  });
}
