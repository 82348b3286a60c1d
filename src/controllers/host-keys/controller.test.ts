import { expect, onTestFinished, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, namespaceName, nodeAnnotation } from '#contract/names.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { hostKeysController } from './controller.ts';
import { graceMs } from './decide.ts';

const name = configMapName.hostKeys;
const hourMs = 3_600_000;
const entries = { '10.0.0.1': 'a', '10.0.0.2': 'b', 'win.example.com': 'c' };

function setUp(data: Record<string, string> = entries, hasMachines = true) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { api, parts, clock } = bench;
  api.put(configMaps, { metadata: { name, namespace }, data });
  return {
    ...bench,
    stored: () => Object.keys(api.peek(configMaps, name, namespace)?.data ?? {}),
    run: () => bench.start(hostKeysController({ ...parts, hasMachines })),
    /** In steps, because the next look is an hour later. */
    wait: async (ms: number) => {
      for (let left = ms; left > 0; left -= hourMs) await clock.advance(hourMs);
    },
  };
}

type Bench = ReturnType<typeof setUp>;
const spec = { address: '10.0.0.1', username: 'Administrator' };
const needs: [about: string, put: (bench: Bench) => unknown, kept: string[]][] = [
  ['nothing', () => undefined, []],
  ['an instance', ({ api }) => api.put(windowsInstances, { metadata: { name: 'w', namespace }, spec }), ['10.0.0.1']],
  [
    'the recorded address of an instance',
    ({ api }) =>
      api.put(windowsInstances, {
        metadata: { name: 'w', namespace },
        spec: { ...spec, address: 'WIN.example.com' },
        status: { ipv4: '10.0.0.2' },
      }),
    ['10.0.0.2', 'win.example.com'],
  ],
  [
    'an entry, also an invalid one',
    ({ api }) =>
      api.put(configMaps, { metadata: { name: configMapName.instances, namespace }, data: { '10.0.0.2': '?' } }),
    ['10.0.0.2'],
  ],
  [
    'a Machine',
    ({ api }) =>
      api.put(machines, {
        metadata: {
          name: 'm',
          namespace: namespaceName.machineApi,
          labels: { 'machine.openshift.io/os-id': 'Windows' },
        },
        status: { phase: 'Provisioning', addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
      }),
    ['10.0.0.1'],
  ],
  [
    'a configured Windows Node that is not recorded',
    ({ api }) =>
      api.put(nodes, {
        metadata: {
          name: 'win-9',
          labels: { 'kubernetes.io/os': 'windows' },
          annotations: { [nodeAnnotation.version]: '10.0.0' },
        },
      }),
    Object.keys(entries),
  ],
  [
    'a Windows Node of nobody',
    ({ api }) => api.put(nodes, { metadata: { name: 'win-9', labels: { 'kubernetes.io/os': 'windows' } } }),
    [],
  ],
];
for (const [about, put, kept] of needs) {
  test(`UPG-04: after a week only stored keys are left that are needed by ${about}`, async () => {
    const bench = setUp();
    put(bench);
    await bench.run();
    await bench.wait(graceMs - hourMs);
    expect(bench.stored()).toEqual(Object.keys(entries));
    await bench.wait(2 * hourMs);
    expect(bench.stored()).toEqual(kept);
    expect([bench.log.messages('warn'), bench.log.messages('error')]).toEqual([[], []]);
  });
}

test('UPG-04: the key of a host that is to be added later is there for a week, and then as long as it is listed', async () => {
  const { api, run, stored, wait } = setUp({ '10.0.0.1': 'a' });
  await run();
  await wait(graceMs - hourMs);
  const metadata = { name: configMapName.instances, namespace };
  api.put(configMaps, { metadata, data: { '10.0.0.1': 'username=Administrator' } });
  await wait(2 * graceMs);
  expect(stored()).toEqual(['10.0.0.1']);
  api.put(configMaps, { metadata, data: {} });
  await wait(graceMs - hourMs);
  expect(stored()).toEqual(['10.0.0.1']);
  await wait(2 * hourMs);
  expect(stored()).toEqual([]);
});

test('UPG-04: removes nothing while the operator is being uninstalled', async () => {
  const { run, stored, wait, uninstall } = setUp();
  uninstall.problem = 'Namespace wmco is being deleted';
  await run();
  await wait(2 * graceMs);
  expect(stored()).toEqual(Object.keys(entries));
});

test('UPG-04: does not remove a key that was changed at that moment', async () => {
  const { api, run, stored, wait, log } = setUp();
  await run();
  await wait(graceMs - hourMs);
  api.before = ({ verb }) => {
    if (verb !== 'patch') return;
    api.before = () => undefined;
    api.put(configMaps, { metadata: { name, namespace }, data: { ...entries, '10.0.0.1': 'new' } });
  };
  await wait(hourMs);
  expect([stored(), log.messages('error')]).toEqual([['10.0.0.1'], []]);
});

test('UPG-04: needs no Machine API, and looks again when a ConfigMap comes', async () => {
  const { api, run, stored, wait } = setUp({}, false);
  api.remove(configMaps, name, namespace);
  await run();
  api.put(configMaps, { metadata: { name, namespace }, data: entries });
  await settle();
  await wait(graceMs + hourMs);
  expect(stored()).toEqual([]);
});
