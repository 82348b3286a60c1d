import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client, Patch, WriteOptions } from '#kube/client.ts';
import type { Resource } from '#kube/resource.ts';
import { nodes } from '#kube/resources.ts';
import { PendingInputError } from '#node/inputs/missing-input.ts';
import { address, type JoinLab, namespace, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { until } from '../../../test/kit/until.ts';

const phaseOf = async (lab: JoinLab) => (await lab.instance()).status?.phase;
const isReady = (lab: JoinLab) => until(async () => (await phaseOf(lab)) === 'Ready');

/** A client of which some calls fail, or wait. */
function faulty(
  client: Client,
  before: (verb: string, resource: string, name: string) => void | Promise<void>,
): Client {
  return new Proxy(client, {
    get: (target, verb) => {
      const member: unknown = Reflect.get(target, verb);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => (member as (...given: unknown[]) => unknown).apply(target, args);
      if (verb !== 'find' && verb !== 'patch') return call;
      return async (resource: Resource, name: string, ...rest: unknown[]) => {
        const [, options] = verb === 'patch' ? (rest as [Patch, WriteOptions?]) : [];
        const part = options?.subresource === undefined ? '' : `/${options.subresource}`;
        await before(verb, `${resource.plural}${part}`, name);
        return call(resource, name, ...rest);
      };
    },
  });
}
const down = () => new ApiError({ code: 503, reason: 'ServiceUnavailable', message: 'down' }, 'PATCH /x');

test('waits without a Warning for what the operator itself is creating', async () => {
  const lab = await startJoinLab();
  lab.host();
  let calls = 0;
  lab.inputs = defaults => {
    calls += 1;
    if (calls === 1) throw new PendingInputError('ServiceAccount wmco/node-bootstrapper');
    return defaults;
  };
  lab.start();
  await lab.add();
  const { timeline = [] } = await lab.statusWhen(({ phase }) => phase === 'Ready');
  expect(timeline.find(({ name }) => name === 'prepare files')?.attempts).toBe(1);
  expect((await lab.events()).filter(line => line.includes('Failure'))).toEqual([]);
});

test('no command is sent to a host whose key cannot be recorded, and it joins once it can', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  let isDown = true;
  const client = faulty(lab.client, (verb, resource) => {
    if (isDown && verb === 'patch' && resource === 'windowsinstances/status') throw down();
  });
  lab.start({ client });
  await lab.add();
  await until(() => host.connectionCount > 1);
  expect([host.commands, host.uploads, await phaseOf(lab)]).toEqual([[], [], undefined]);
  isDown = false;
  await isReady(lab);
  expect(lab.logged.messages('warn')).toContain('Status update failed; retrying');
});

test('does not reboot a host while the reboot cannot be recorded', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  let isDown = false;
  const client = faulty(lab.client, (verb, resource) => {
    if (isDown && verb === 'patch' && resource === 'windowsinstances/status') throw down();
  });
  host.faults.exec = command => {
    if (command.includes('enable-containers')) isDown = true;
    return undefined;
  };
  lab.start({ client });
  await lab.add();
  await until(() => host.verbs().filter(verb => verb === 'enable-containers').length > 0);
  await until(() => host.openConnections === 0);
  expect([host.boots, host.verbs().includes('reboot')]).toEqual([1, false]);
  host.faults.exec = () => undefined;
  isDown = false;
  await isReady(lab);
  expect(host.boots).toBe(2);
});

test('a success whose status write failed is written by the next pass, and is not a failure', async () => {
  const lab = await startJoinLab();
  lab.host();
  let isDown = false;
  const client = faulty(lab.client, async (verb, resource) => {
    const { annotations = {} } = (await lab.node())?.metadata ?? {};
    if (verb === 'patch' && resource === 'nodes') isDown = annotations[nodeAnnotation.version] === version;
    if (isDown && resource === 'windowsinstances/status') throw down();
  });
  lab.start({ client });
  await lab.add();
  await until(() => isDown);
  await until(() => lab.logged.messages('error').includes('Reconcile failed; retrying'));
  isDown = false;
  await isReady(lab);
  await until(async () => (await lab.events()).length >= 2);
  expect((await lab.events()).toSorted()).toEqual([
    `ConfigMap windows-instances: InstanceSetup: Configured instance with address ${address} as a worker node`,
    `WindowsInstance win-5: InstanceSetup: Configured instance with address ${address} as a worker node`,
  ]);
  expect((await lab.instance()).status?.timeline?.some(({ lastError }) => lastError !== undefined)).toBe(false);
});

test('an operator killed right before the last status write is followed by one that writes it', async () => {
  const lab = await startJoinLab();
  lab.host();
  const operator = { current: undefined as ReturnType<JoinLab['start']> | undefined };
  const client = faulty(lab.client, async (verb, resource) => {
    const { annotations = {} } = (await lab.node())?.metadata ?? {};
    const isDone = annotations[nodeAnnotation.version] === version;
    if (verb !== 'patch' || resource !== 'windowsinstances/status' || !isDone) return;
    void operator.current?.kill();
    throw down();
  });
  operator.current = lab.start({ client });
  await lab.add();
  await until(async () => (await lab.node())?.metadata.annotations?.[nodeAnnotation.version] === version);
  await operator.current.stop();
  lab.start();
  await isReady(lab);
  // The one that was killed may have recorded them already.
  const texts = async () => [...new Set(await lab.events())].toSorted();
  await until(async () => (await texts()).length === 2);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

test('an instance recreated under the same name is a new one', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const gate = Promise.withResolvers<void>();
  let isFirst = true;
  const client = faulty(lab.client, async (verb, resource) => {
    if (verb !== 'find' || resource !== 'windowsinstances' || !isFirst) return;
    isFirst = false;
    await gate.promise;
  });
  lab.start({ client });
  const before = await lab.add();
  await until(() => !isFirst);
  await lab.client.delete(windowsInstances, 'win-5', { namespace });
  await lab.add({ username: 'other' });
  gate.resolve();
  await isReady(lab);
  const now = await lab.instance();
  expect(now.metadata.uid).not.toBe(before.metadata.uid);
  expect((await lab.node())?.metadata.annotations?.[nodeAnnotation.username]).toBe('sealed other');
  expect(host.openConnections).toBe(0);
});

test('an API error while an instance is read is retried', async () => {
  const lab = await startJoinLab();
  lab.host();
  let left = 2;
  const client = faulty(lab.client, (verb, resource) => {
    if (verb === 'find' && resource === 'windowsinstances' && left-- > 0) throw down();
  });
  lab.start({ client });
  await lab.add();
  await isReady(lab);
  expect(left).toBeLessThan(0);
});

test('reports annotations that the API server rejects with its error', async () => {
  const lab = await startJoinLab();
  lab.host();
  const client = faulty(lab.client, (verb, resource) => {
    if (verb === 'patch' && resource === 'nodes') {
      throw new ApiError(
        { code: 403, reason: 'Forbidden', message: 'nodes is forbidden' },
        'PATCH /api/v1/nodes/win-5',
      );
    }
  });
  lab.start({ client });
  await lab.add();
  const { step, conditions } = await lab.statusWhen(({ phase }) => phase === 'Failed');
  expect([step, conditions?.[0]?.reason]).toEqual(['mark node', 'API_REFUSED']);
  expect(conditions?.[0]?.message).toContain('nodes is forbidden');
});

test('configures a Node again that was recreated while the operator waited for its agent', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.behavior.noVersion = true;
  lab.start();
  await lab.add();
  await until(async () => (await lab.instance()).status?.step === 'wait for agent');
  await lab.client.delete(nodes, 'win-5');
  lab.restartKubelet(host);
  await until(async () => (await lab.node()) !== undefined);
  const uid = (await lab.node())?.metadata.uid;
  await lab.statusWhen(({ nodeUID }) => nodeUID === uid);
  expect((await lab.node())?.metadata.annotations).toMatchObject({ [nodeAnnotation.pubKeyHash]: 'hash-of-key' });
  lab.behavior.noVersion = false;
  lab.look(host);
  await isReady(lab);
});

test('a clean stop closes the connection and reports no failure', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.faults.exec = command => (command.includes(' bootstrap ') ? new Promise(() => undefined) : undefined);
  const operator = lab.start();
  await lab.add();
  await until(async () => (await lab.instance()).status?.step === 'bootstrap');
  await operator.stop();
  expect(host.openConnections).toBe(0);
  const { status } = await lab.instance();
  expect(status?.phase).toBe('Configuring');
  expect(status?.timeline?.some(({ lastError }) => lastError !== undefined)).toBe(false);
  expect(await lab.events()).toEqual([]);
});

test('a host whose kubelet cannot be reached joins, with a condition and a Warning event', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.start({ dialTcp: () => Promise.reject(new Error('ECONNREFUSED')) });
  await lab.add();
  await isReady(lab);
  const { conditions } = (await lab.instance()).status ?? {};
  expect(conditions?.map(({ type, status }) => `${type} ${status}`)).toEqual([
    'Configured True',
    'Ready True',
    'KubeletReachable False',
  ]);
  const warnings = async () => (await lab.events()).filter(line => line.includes('KubeletUnreachable')).toSorted();
  await until(async () => (await warnings()).length >= 2);
  expect(await warnings()).toEqual([
    expect.stringMatching(/^ConfigMap windows-instances: KubeletUnreachable: .*10\.0\.0\.5:10250.*New-NetFirewallRule/),
    expect.stringMatching(/^WindowsInstance win-5: KubeletUnreachable: .*10\.0\.0\.5:10250.*New-NetFirewallRule/),
  ]);
});

test('a kubelet that could not be reached is probed again when the retry annotation changes', async () => {
  const lab = await startJoinLab();
  lab.host();
  let isOpen = false;
  lab.start({ dialTcp: () => (isOpen ? Promise.resolve() : Promise.reject(new Error('ECONNREFUSED'))) });
  await lab.add();
  await isReady(lab);
  isOpen = true;
  const metadata = { annotations: { [instanceAnnotation.retry]: '1' } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: { metadata } }, { namespace });
  const reachable = async () =>
    findCondition((await lab.instance()).status?.conditions, instanceCondition.kubeletReachable);
  await until(async () => (await reachable())?.status === 'True');
  expect(await reachable()).toMatchObject({ reason: 'Reachable' });
});
