import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { dir } from '#contract/paths.ts';
import { noReservations } from '#contract/reserved.ts';
import { nodes } from '#kube/resources.ts';
import { address, type JoinLab, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';

const second = '10.0.0.6';

/** Two hosts of one name, as clones of a template that nobody has renamed. */
async function twins(): Promise<{ lab: JoinLab; hosts: [LabHost, LabHost] }> {
  const lab = await startJoinLab();
  const hosts: [LabHost, LabHost] = [lab.host(), lab.host(second)];
  for (const host of hosts) host.model.state.hostName = 'template';
  return { lab, hosts };
}
const addFirst = (lab: JoinLab) => lab.add({}, 'first');
const addSecond = (lab: JoinLab) => lab.add({ address: second, source: { kind: 'ConfigMap', name: second } }, 'second');

/** Nothing but the agent program has come to the host, and nothing but an inventory was asked of it. */
function expectUntouched(host: LabHost): void {
  expect(host.verbs().filter(verb => verb !== 'inventory')).toEqual([]);
  expect(host.uploads.filter(path => path.startsWith(dir.incoming))).toEqual([]);
}

test('of two instances with one name the first keeps it, and the other is refused before anything is installed', async () => {
  const { lab, hosts } = await twins();
  lab.start();
  await addFirst(lab);
  await lab.ready('first');
  await addSecond(lab);
  const message = await lab.failed('NODE_NAME_TAKEN', 'second');
  expect(message).toContain(`${second}: the host name template is already the Node of first`);
  expectUntouched(hosts[1]);
  const { status } = await lab.instance('second');
  expect([status?.host, status?.tokens, status?.node]).toEqual([undefined, undefined, undefined]);
});

test('of two that come to that step at the same moment only one goes on', async () => {
  const { lab, hosts } = await twins();
  const arrived = new Set<LabHost>();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const host of hosts) {
    host.faults.exec = command => {
      // The last command before the names are compared.
      if (!command.includes(' inventory ') || arrived.has(host)) return undefined;
      arrived.add(host);
      if (arrived.size === 2) resolve(undefined);
      return promise;
    };
  }
  lab.start();
  await Promise.all([addFirst(lab), addSecond(lab)]);
  const names = ['first', 'second'];
  const outcomes = await Promise.all(
    names.map(async name => (await lab.statusWhen(({ phase }) => phase === 'Ready' || phase === 'Failed', name)).phase),
  );
  expect(new Set(outcomes)).toEqual(new Set(['Failed', 'Ready']));
  const loser = outcomes.indexOf('Failed');
  await lab.failed('NODE_NAME_TAKEN', names[loser]);
  for (const host of loser === 0 ? [hosts[0]] : [hosts[1]]) expectUntouched(host);
});

test('the name is free again when its instance and its Node are gone', async () => {
  const { lab } = await twins();
  lab.start();
  await addFirst(lab);
  await lab.ready('first');
  await addSecond(lab);
  await lab.failed('NODE_NAME_TAKEN', 'second');
  await lab.client.delete(windowsInstances, 'first', { namespace });
  await lab.failed('HOST_NAME_TAKEN', 'second');
  await lab.client.delete(nodes, 'template');
  expect(await lab.ready('second')).toMatchObject({ node: 'template' });
});

const forbidden: [name: string, ofCluster: Partial<typeof noReservations>][] = [
  ['kubernetes', {}],
  ['kubernetes.default.svc', {}],
  ['db.prod.svc', {}],
  ['localhost', {}],
  ['api-int.example.com', { names: ['api-int.example.com'] }],
  ['console.apps.example.com', { domains: ['apps.example.com'] }],
  ['172.30.0.1', { networks: ['172.30.0.0/16'] }],
];
for (const [name, ofCluster] of forbidden) {
  test(`a host called ${name} is refused before anything is installed`, async () => {
    const lab = await startJoinLab();
    const host = lab.host();
    host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, nodeName: name } : data);
    lab.inputs = usual => ({ ...usual, reserved: { ...noReservations, ...ofCluster } });
    lab.start();
    await lab.add();
    expect(await lab.failed('NODE_NAME_FORBIDDEN')).toContain(`${address}: the host name ${name} `);
    expectUntouched(host);
  });
}

test('the host of a Machine must have one of the names that the cloud has given it', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  let given = ['machine-1.internal'];
  lab.start({ machineNames: { of: machine => (machine === 'machine-1' ? given : []), withName: () => [] } });
  await lab.add({ source: { kind: 'Machine', name: 'machine-1' } });
  expect(await lab.failed('NODE_NAME_CHANGED')).toContain(
    'host name is win-5, but that of its Machine is machine-1.internal',
  );
  expectUntouched(host);
  given = ['machine-1.internal', 'WIN-5'];
  await lab.ready();
});

test('the name that a Machine is given by the operator counts, not the one it still has', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.hostName = 'template';
  lab.start({ machineNames: { of: () => ['worker-1'], withName: () => ['machine-1'] } });
  await lab.add({ source: { kind: 'Machine', name: 'machine-1' }, hostname: 'worker-1' });
  expect(await lab.ready()).toMatchObject({ node: 'worker-1' });
});
