import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { isNotFound } from '#kube/api-error.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { Informers } from '#kube/informer/informers.ts';
import { address, type JoinLab, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const moved = '10.0.0.6';
const addMoved = (lab: JoinLab) => lab.add({ address: moved, source: { kind: 'ConfigMap', name: moved } }, 'moved');

async function list(lab: JoinLab, ...addresses: string[]): Promise<void> {
  const data = Object.fromEntries(addresses.map(each => [each, 'username=Administrator']));
  await lab.client.delete(configMaps, configMapName.instances, { namespace }).catch(() => undefined);
  await lab.client.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
}

/** A joined host that also answers at another address. */
async function movedLab(): Promise<{ lab: JoinLab; host: LabHost }> {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.hosts.set(moved, host);
  await list(lab, address);
  lab.start();
  await lab.add();
  await lab.ready();
  return { lab, host };
}

async function isGone(lab: JoinLab, name: string): Promise<boolean> {
  const found = await lab.client.get(windowsInstances, name, { namespace }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  return found === undefined;
}

/** Whether the Node was unschedulable at any time from now on. */
async function watchCordon(lab: JoinLab): Promise<{ wasCordoned: boolean }> {
  const seen = { wasCordoned: false };
  const informers = new Informers({ client: lab.client });
  const look = ({ spec }: Node) => {
    if (spec?.unschedulable === true) seen.wasCordoned = true;
  };
  const source = informers.get(nodes);
  source.addHandler({ added: look, updated: (_old, now) => look(now) });
  informers.start();
  await source.synced;
  return seen;
}

const removal = { metadata: { annotations: { [instanceAnnotation.removal]: '2026-03-01T12:00:00Z' } } };
const leavings: [string, (lab: JoinLab) => Promise<unknown>][] = [
  ['whose entry is gone', lab => list(lab, moved)],
  [
    'whose removal is requested',
    lab => lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: removal }, { namespace }),
  ],
];
for (const [about, leave] of leavings) {
  test(`an instance with a new address takes over the host of one ${about}`, async () => {
    const { lab, host } = await movedLab();
    const before = await lab.instance();
    const cordon = await watchCordon(lab);
    const [tokens, verbs] = [lab.tokens, host.verbs().length];
    await leave(lab);
    await addMoved(lab);
    const after = await lab.ready('moved');
    const { node, nodeUID, hostKey, agent, version } = before.status ?? {};
    expect(after).toMatchObject({ node, nodeUID, hostKey, agent, version, host: { name: 'win-5' } });
    await until(() => isGone(lab, 'win-5'));
    expect([lab.tokens, host.verbs().slice(verbs), host.boots]).toEqual([tokens, ['inventory'], 1]);
    expect(cordon.wasCordoned).toBe(false);
    await until(async () => (await lab.events()).some(event => event.includes('it was WindowsInstance win-5')));
  });
}

test('an instance whose entry is still listed keeps its host', async () => {
  const { lab } = await movedLab();
  await list(lab, address, moved);
  await addMoved(lab);
  expect(await lab.failed('NODE_NAME_TAKEN', 'moved')).toContain('is already the Node of win-5');
  expect(await isGone(lab, 'win-5')).toBe(false);
});

const strangers: [string, (lab: JoinLab) => Promise<void>][] = [
  [
    'a host with another key',
    async lab => {
      lab.hosts.delete(moved);
      lab.host(moved).model.state.hostName = 'win-5';
    },
  ],
  [
    'a clone that has the same key and no kubelet of ours',
    async lab => {
      const { hostKey } = lab.host();
      lab.hosts.delete(moved);
      const clone = lab.host(moved);
      clone.model.state.hostName = 'win-5';
      clone.hostKey = hostKey;
    },
  ],
  [
    'a clone whose agent has another key',
    async lab => {
      lab.host().faults.answer = (verb, data) =>
        verb === 'inventory' ? { ...data, identities: { agent: { keyHash: 'f'.repeat(64) } } } : data;
    },
  ],
  [
    'a host that is being removed',
    lab =>
      lab.patchStatus({
        phase: 'Failed',
        journey: { name: 'remove', cause: 'x', started: '2026-03-01T12:00:00Z' },
        timeline: [{ name: 'clean-up', started: '2026-03-01T12:00:00Z', attempts: 1 }],
      }),
  ],
];
for (const [about, prepare] of strangers) {
  test(`${about} takes over nothing`, async () => {
    const lab = await startJoinLab();
    const host = lab.host();
    lab.hosts.set(moved, host);
    await list(lab, address);
    const first = lab.start();
    await lab.add();
    await lab.ready();
    await first.stop();
    await prepare(lab);
    await list(lab, moved);
    // Not the pass of the first instance, which would report its Node.
    await lab.patchSpec({ paused: true });
    lab.start();
    await addMoved(lab);
    await lab.failed('NODE_NAME_TAKEN', 'moved');
    expect(await isGone(lab, 'win-5')).toBe(false);
  });
}

test('after a crash between record and deletion, the former instance is deleted and not removed', async () => {
  const { lab, host } = await movedLab();
  const { status } = await lab.instance();
  await list(lab, moved);
  const { hostKey, nodeUID, agent, version } = status ?? {};
  const added = await lab.client.create<WindowsInstance>(windowsInstances, {
    metadata: { name: 'moved', namespace },
    spec: { address: moved, username: 'Administrator', source: { kind: 'ConfigMap', name: moved }, paused: true },
  });
  await lab.patchStatus({ hostKey, nodeUID, agent, version, host: status?.host }, added.metadata.name);
  const verbs = host.verbs().length;
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: removal }, { namespace });
  await lab.patchSpec({ servingNames: ['again.example.com'] });
  await until(() => isGone(lab, 'win-5'));
  expect([host.verbs().length, (await lab.node())?.metadata.uid]).toEqual([verbs, nodeUID]);
});

test('a name that resolves to another address is the same host, and its Node stays', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const name = 'win.example.com';
  let resolved = address;
  const resolver = { addresses: async () => [resolved] };
  const connect: typeof lab.connect = (target, options) =>
    target.dialAt?.address === resolved ? host.connect(target, options) : lab.connect(target, options);
  const first = lab.start({ resolver, connect });
  await lab.add({ address: name, source: { kind: 'ConfigMap', name } });
  const before = await lab.ready();
  await first.stop();
  const cordon = await watchCordon(lab);
  resolved = moved;
  await lab.patchStatus({ agent: { certificateEnds: '2026-01-01T00:00:00Z', installed: '2026-01-01T00:00:00Z' } });
  lab.start({ resolver, connect });
  const after = await lab.statusWhen(({ phase, ipv4 }) => phase === 'Ready' && ipv4 === moved);
  expect([after.node, after.nodeUID, after.hostKey]).toEqual([before.node, before.nodeUID, before.hostKey]);
  expect([cordon.wasCordoned, host.boots]).toEqual([false, 1]);
  expect((await lab.node())?.metadata.annotations?.[nodeAnnotation.version]).toBe(before.version);
});
