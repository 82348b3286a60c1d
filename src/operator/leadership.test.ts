import { expect, test } from 'vitest';
import { configMaps, leases, pods } from '#kube/resources.ts';
import { MemoryApi } from '../../test/kit/memory-api.ts';
import { manualClock, settle } from '../../test/kit/manual-clock.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { leadershipOf, permissions } from './leadership.ts';
import type { LeaseTimes } from './settings.ts';

const namespace = 'wmco';
const { signal } = new AbortController();
const lockName = 'windows-machine-config-operator-lock';

async function bench(podName = '', api = new MemoryApi(), lease?: LeaseTimes) {
  const clock = manualClock();
  const { log } = recordedLog();
  const leadership = await leadershipOf(
    { client: api as never, namespace, podName, clock, log, random: () => 0, lease },
    signal,
  );
  const lead = (within: AbortSignal = signal) => leadership.acquire(() => undefined, within);
  return { api, clock, leadership, lead, lease: () => api.peek(leases, 'windows-machine-config-operator', namespace) };
}

test('leads by a Lease of its own name', async () => {
  const { lead, lease, leadership } = await bench();
  await lead();
  expect(lease()?.spec?.holderIdentity).toMatch(/^[\w.-]+_[0-9a-f-]{36}$/);
  await leadership.release('free', signal);
  expect(lease()?.spec?.holderIdentity).toBe('');
});

test('no two processes have the same identity, even in the same pod', async () => {
  const api = new MemoryApi();
  api.put(pods, { metadata: { name: 'pod-1', namespace, uid: 'u' } });
  const [one, other] = [await bench('pod-1', api), await bench('pod-1', api)];
  await one.lead();
  const first = one.lease()?.spec?.holderIdentity;
  await one.leadership.release('free', signal);
  await other.lead();
  expect(first).toMatch(/^pod-1_u_/);
  expect(other.lease()?.spec?.holderIdentity).not.toBe(first);
  await other.leadership.release('free', signal);
});

const predecessors: [string, pod: string, uid: string, isWaited: boolean][] = [
  ['the former container of its own pod', 'pod-1', 'u', false],
  ['a pod of the same name that was deleted and may still run', 'pod-1', 'former', true],
  ['another pod', 'pod-2', 'u', true],
];
for (const [name, pod, uid, isWaited] of predecessors) {
  test(`${isWaited ? 'waits' : 'does not wait'} for the Lease of ${name}`, async () => {
    const api = new MemoryApi();
    api.put(pods, { metadata: { name: pod, namespace, uid } });
    const killed = await bench(pod, api);
    await killed.lead();
    api.put(pods, { metadata: { name: 'pod-1', namespace, uid: 'u' } });
    const next = await bench('pod-1', api);
    const stop = new AbortController();
    let leads = false;
    const leading = next.lead(stop.signal).then(
      () => (leads = true),
      () => undefined,
    );
    killed.leadership.release('let expire', signal).catch(() => undefined);
    await next.clock.advance(14_000);
    expect(leads).toBe(false);
    await next.clock.advance(6000);
    expect(leads).toBe(!isWaited);
    stop.abort();
    await leading;
    await next.leadership.release('let expire', signal);
  });
}

const times: [string, LeaseTimes | undefined, number][] = [
  ['for longer than an API server is away during its upgrade', undefined, 120],
  ['for as long as it is told', { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 500 }, 3],
];
for (const [name, lease, seconds] of times) {
  test(`holds the Lease ${name}`, async () => {
    const one = await bench('', new MemoryApi(), lease);
    await one.lead();
    expect(one.lease()?.spec?.leaseDurationSeconds).toBe(seconds);
    await one.leadership.release('free', signal);
  });
}

test('takes the lock of the Go operator for its own pod', async () => {
  const api = new MemoryApi();
  api.put(pods, { metadata: { name: 'pod-1', namespace, uid: 'u-1' } });
  const { lead, leadership } = await bench('pod-1', api);
  await lead();
  expect(api.peek(configMaps, lockName, namespace)?.metadata).toMatchObject({
    annotations: { 'windowsmachineconfig.openshift.io/lease': 'pod-1' },
    ownerReferences: [{ kind: 'Pod', name: 'pod-1', uid: 'u-1' }],
  });
  await leadership.release('free', signal);
  expect(api.peek(configMaps, lockName, namespace)).toBeUndefined();
});

test('holds no lock outside a pod', async () => {
  const { lead, leadership, api } = await bench();
  await lead();
  expect(api.peek(configMaps, lockName, namespace)).toBeUndefined();
  await leadership.release('free', signal);
});

test('waits for a Go operator that leads, and leads when its pod is gone', async () => {
  const { api, lead, clock, leadership } = await bench();
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'go-1', uid: 'go' };
  api.put(configMaps, { metadata: { name: lockName, namespace, ownerReferences: [owner] } });
  api.put(pods, { metadata: { name: 'go-1', namespace, uid: 'go' }, status: { phase: 'Running' } });
  let leads = false;
  const leading = lead().then(() => (leads = true));
  await settle();
  await clock.advance(5000);
  expect(leads).toBe(false);
  api.remove(pods, 'go-1', namespace);
  await clock.advance(20_000);
  await leading;
  expect(leads).toBe(true);
  await leadership.release('free', signal);
});

test('reports that its own pod cannot be found', async () => {
  await expect(bench('nowhere')).rejects.toMatchObject({ code: 404 });
});

test('needs no more than its Lease, the lock and pods, in its own namespace', () => {
  expect(permissions.every(({ in: place }) => place === 'own namespace')).toBe(true);
  expect(permissions.flatMap(({ resources }) => resources)).toEqual(['leases', 'configmaps', 'pods']);
});
