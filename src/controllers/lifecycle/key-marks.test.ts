import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { nodes } from '#kube/resources.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { newKey } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const { pubKeyHash } = nodeAnnotation;

test('a Node that changes its mark without end is marked every five minutes; another key is marked at once', async () => {
  const lab = await startJoinLab();
  lab.followsKey = true;
  lab.changeSettings({ mirrors: { 'quay.io': 'one' } });
  const host = lab.host();
  const clock = fastClock(60);
  lab.start({ clock });
  await lab.add();
  await lab.ready();
  const mark = async () => (await lab.node())?.metadata.annotations?.[pubKeyHash];
  const own = () => publicKeyHash(lab.privateKey.publicKey);
  // The lab joins hosts with another hash than that of its key.
  await until(async () => (await mark()) === own());

  const startedMs = clock.monotonicMs();
  const { connectionCount } = host;
  let [marked, writes] = [0, 0];
  for (; clock.monotonicMs() < startedMs + 100_000; writes += 1) {
    await lab.client.patch(nodes, 'win-5', {
      type: 'merge',
      body: { metadata: { annotations: { [pubKeyHash]: `x${writes}` } } },
    });
    await clock.sleep(2000, new AbortController().signal);
    marked += (await mark()) === own() ? 1 : 0;
  }
  expect(writes).toBeGreaterThan(5);
  expect(marked).toBeLessThanOrEqual(1);
  await until(async () => (await mark()) === own());
  expect(host.connectionCount).toBe(connectionCount);

  lab.privateKey = parsePrivateKey(newKey());
  lab.changeSettings({ mirrors: { 'quay.io': 'two' } });
  const changedMs = clock.monotonicMs();
  await until(async () => (await mark()) === own());
  expect(clock.monotonicMs() - changedMs).toBeLessThan(250_000);
});
