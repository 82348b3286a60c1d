import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { startEmbeddedCluster } from '../embedded-cluster.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { namespaces } from '#kube/resources.ts';
import { Overload } from './overload.ts';

async function scene() {
  const clock = manualClock();
  const overload = new Overload(clock, ['sandbox-admin']);
  const cluster = await startEmbeddedCluster({ beforeRequest: overload.hook });
  const clientFor = (user?: Parameters<typeof cluster.kubeconfigFor>[0]) =>
    createClient(loadKubeconfig(cluster.kubeconfigFor(user)), { maxRetries: 0 });
  const [admin, other] = [clientFor(), clientFor({ commonName: 'other', organizations: ['system:masters'] })];
  return {
    clock,
    overload,
    admin,
    other,
    async [Symbol.asyncDispose]() {
      await admin.close();
      await other.close();
      await cluster.close();
    },
  };
}

test('a busy server rejects requests with Retry-After, but not those of exempt users', async () => {
  await using made = await scene();
  made.overload.isBusy = true;
  const request = made.other.list(namespaces);
  await expect(request).rejects.toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
  });
  expect((await made.admin.list(namespaces)).items).not.toEqual([]);
  made.overload.isBusy = false;
  expect((await made.other.list(namespaces)).items).not.toEqual([]);
  expect(made.overload.rejected).toBe(1);
});

test('a slow server answers after its latency, and exempt users at once', async () => {
  await using made = await scene();
  made.overload.latencyMs = 2000;
  const answered: string[] = [];
  const slow = made.other.list(namespaces).then(() => answered.push('slow'));
  await expect.poll(() => made.clock.sleepers()).toBe(1);
  await made.admin.list(namespaces);
  expect(answered).toEqual([]);
  await made.clock.advance(2000);
  await slow;
  expect(answered).toEqual(['slow']);
});
