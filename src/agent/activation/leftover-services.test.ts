import { expect, test } from 'vitest';
import { activationService, agentName, managedDescription, nodeAnnotation } from '#contract/names.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { programs, SwapLab } from '../../../test/kit/swap-lab.ts';
import type { InstalledConfig, ServiceState } from '../ports.ts';
import { reconcileHost } from '../reconcile/reconcile-host.ts';
import { changeState, readState } from '../state.ts';
import { removeLeftovers } from './leftover-services.ts';

const ours = { description: managedDescription('x') };
const namesOf = async ({ services }: ModelHost) => (await services.list()).map(({ name }) => name);

/** Services that a swap has stopped; those called `kept…` must stay. */
const rows: [about: string, services: [name: string, config: Partial<InstalledConfig>, state: ServiceState][]][] = [
  ['a service that only the former version had', [['former', ours, 'stopped']]],
  ['a service of the version in place', [['kubelet', ours, 'stopped']]],
  ['the agent and the swap', [agentName, activationService].map(name => [name, ours, 'stopped'])],
  ['a service of an administrator with such a name', [['kept', {}, 'stopped']]],
  ['a service that somebody started again', [['kept', ours, 'running']]],
  [
    'a service that one of an administrator needs, even indirectly',
    [
      ['kept-1', ours, 'stopped'],
      ['kept-2', { ...ours, dependencies: ['KEPT-1'] }, 'stopped'],
      ['kept-other', { dependencies: ['kept-2'] }, 'stopped'],
    ],
  ],
  [
    'services that need each other',
    [
      ['former-1', ours, 'stopped'],
      ['former-2', { ...ours, dependencies: ['former-1'] }, 'stopped'],
    ],
  ],
];
test.each(rows)('after a swap: %s', async (_, services) => {
  const host = new ModelHost();
  for (const [name, config, state] of services) host.services.install(name, config, state);
  const names = services.map(([name]) => name);
  await changeState(host.files, { swappedServices: names.map(name => name.toUpperCase()) });
  const warnings: string[] = [];
  await removeLeftovers([{ name: 'Kubelet' }], host, text => warnings.push(text));
  expect(await namesOf(host)).toEqual(names.filter(name => !name.startsWith('former')));
  expect((await readState(host.files)).swappedServices).toEqual([]);
});

test('a service that no swap has stopped is not touched', async () => {
  const host = new ModelHost();
  host.services.install('former', ours, 'stopped');
  await removeLeftovers([], host, () => undefined);
  expect(await namesOf(host)).toEqual(['former']);
});

test('a service that cannot be removed is tried again, and keeps no other from being removed', async () => {
  const host = new ModelHost();
  for (const name of ['former-1', 'former-2']) host.services.install(name, ours, 'stopped');
  await changeState(host.files, { swappedServices: ['former-1', 'former-2'] });
  host.services.before = call => {
    if (call === 'remove former-1') throw new Error('access denied');
  };
  const warnings: string[] = [];
  const remove = () => removeLeftovers([], host, text => warnings.push(text));
  await remove();
  expect([await namesOf(host), warnings]).toEqual([['former-1'], [expect.stringContaining('access denied')]]);
  host.services.before = () => undefined;
  await remove();
  expect([await namesOf(host), warnings.length]).toEqual([[], 1]);
});

const [containerd, kubelet] = ['containerd', 'kubelet'].map(name => service({ name, command: `${name}.exe` })) as [
  Service,
  Service,
];
/** What the services ConfigMap of each version has. */
const manifests = {
  v1: [containerd, kubelet, service({ name: 'only-1', command: 'one.exe' })],
  v2: [containerd, kubelet, service({ name: 'only-2', command: 'two.exe' })],
};

/** A host with the services of v1 that can be swapped. */
async function labWithServices(): Promise<SwapLab> {
  const lab = new SwapLab();
  const { host } = lab;
  host.node = { name: 'win-1', annotations: { [nodeAnnotation.desiredVersion]: 'v1' }, ready: true };
  host.configMaps = Object.entries(manifests).map(([version, services]) => ({
    name: `windows-services-${version}`,
    created: '2026-01-01T00:00:00Z',
    data: printManifest({ services, files: [], environment: {}, watchedEnvironment: [] }),
  }));
  await lab.prepare();
  await pass(lab);
  await host.system.flushServices();
  return lab;
}

async function pass({ host }: SwapLab): Promise<void> {
  await reconcileHost(host, { caBundle: '', readyPatience: { everyMs: 1000, limitMs: 5000 } }, host.waiting());
}

async function expectServices({ host }: SwapLab, version: keyof typeof manifests): Promise<void> {
  const managed = (await host.services.list()).filter(({ config }) => config.description !== '');
  const running = managed.filter(({ state }) => state === 'running').map(({ name }) => name);
  expect(managed.map(({ name }) => name).toSorted()).toEqual(running.toSorted());
  expect(running.toSorted()).toEqual([...manifests[version].map(({ name }) => name), agentName].toSorted());
}

test('an upgrade removes what only the former version had, and a rollback creates it again', async () => {
  const lab = await labWithServices();
  await expectServices(lab, 'v1');
  await lab.order();
  await lab.settle();
  await pass(lab);
  await expectServices(lab, 'v2');
  expect((await lab.host.services.query('other'))?.state).toBe('running');
  await lab.order('previous', 'v1', programs.v1);
  await lab.settle();
  await pass(lab);
  await expectServices(lab, 'v1');
});

test('a rollback removes what an upgrade created whose services never ran', async () => {
  const lab = await labWithServices();
  await lab.order();
  await lab.settle();
  lab.host.services.before = call => {
    if (call === 'start kubelet') throw new Error('it crashes');
  };
  await expect(pass(lab)).rejects.toThrow(/it crashes/);
  expect(await namesOf(lab.host)).toEqual(expect.arrayContaining(['only-1', 'only-2']));
  lab.host.services.before = () => undefined;
  await lab.order('previous', 'v1', programs.v1);
  await lab.settle();
  await pass(lab);
  await expectServices(lab, 'v1');
});

test.each(['nothing', 'registry'] as const)(
  'a power cut at any point of the pass after a swap, which loses %s, leaves no service behind',
  async loses => {
    let point = 0;
    for (let isCut = true; isCut; point += 1) {
      const lab = await labWithServices();
      await lab.order();
      await lab.settle();
      lab.left = point;
      isCut = await pass(lab).then(
        () => false,
        () => true,
      );
      await lab.boot(loses);
      await lab.settle();
      await pass(lab);
      await expectServices(lab, 'v2');
    }
    expect(point).toBeGreaterThan(10);
  },
);
