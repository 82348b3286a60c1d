import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { leases } from '../../src/kube/resources.ts';
import { Overload } from '../../src/sandbox/apiserver/overload.ts';
import { administrator } from '../../src/sandbox/embedded-cluster.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** The same as `npm run bench -- slow-server`, small and quick. */

const hosts = 10;
const user = { commonName: 'operator', organizations: ['system:masters'] };
/** Longer than an overload can last on a busy machine. */
const lease = { leaseDurationMs: 120_000, renewDeadlineMs: 90_000, retryPeriodMs: 500 };

async function scene() {
  const overload = new Overload(systemClock, [administrator.commonName]);
  const seen = { rejectedRenewals: 0 };
  const sandbox = await startSandbox({
    hosts,
    speed: 50,
    listsNames: true,
    beforeRequest: request => {
      if (overload.isBusy && request.user.username === user.commonName && request.info.resource === 'leases')
        seen.rejectedRenewals += 1;
      return overload.hook(request);
    },
  });
  const start = () => startOperator(sandbox, { kubeconfig: sandbox.kubeconfigFor(user), settings: { lease } });
  return { overload, seen, sandbox, start, [Symbol.asyncDispose]: () => sandbox.stop() };
}

async function transitionsOf({ client }: SandboxOperator, namespace: string): Promise<(number | undefined)[]> {
  const { items } = await client.list(leases, { namespace });
  return items.map(({ spec }) => spec?.leaseTransitions);
}

test('hosts join although the API server answers each request after 100 ms', async () => {
  await using made = await scene();
  made.overload.latencyMs = 100;
  await using operator = made.start();
  await operator.allReady(hosts);
  expect(await transitionsOf(operator, made.sandbox.namespace)).toEqual([0]);
});

test('hosts join and the Lease is kept although the API server answers 429 in the middle of the join', async () => {
  await using made = await scene();
  await using operator = made.start();
  const steps = async () =>
    (await operator.instances()).flatMap(({ status }) => status?.timeline?.map(({ name }) => name) ?? []);
  await expect.poll(steps, { interval: 20 }).toContain('bootstrap');
  made.overload.isBusy = true;
  await expect.poll(() => made.seen.rejectedRenewals, { interval: 50 }).toBeGreaterThan(3);
  made.overload.isBusy = false;
  await operator.allReady(hosts);
  expect(await transitionsOf(operator, made.sandbox.namespace)).toEqual([0]);
});
