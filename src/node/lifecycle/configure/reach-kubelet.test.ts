import { expect, test } from 'vitest';
import type { DialTcp } from '#host/dial-tcp.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { kubeletCondition, reachKubelet } from './reach-kubelet.ts';

const refused: DialTcp = async (address, port) => {
  throw new Error(`connect ECONNREFUSED ${address}:${port}`);
};
/** A firewall that drops everything. */
const silent: DialTcp = (_address, _port, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const host = { name: 'win-5', addresses: ['10.0.0.5', '192.168.7.5'] };

/** A bench whose journey has come to its last step. */
function benchWith(dialTcp: DialTcp, record = { host }): JourneyBench {
  const bench = new JourneyBench({ dialTcp, record });
  bench.putNode({ status: { addresses: [{ type: 'InternalIP', address: '203.0.113.9' }] } });
  return bench;
}

test('dials the recorded addresses on port 10250, and never those that the Node reports', async () => {
  const dialed: string[] = [];
  const bench = benchWith(async (address, port) => void dialed.push(`${address}:${port}`));
  await bench.take(reachKubelet);
  expect(dialed).toEqual(['10.0.0.5:10250', '192.168.7.5:10250']);
  expect(bench.journey.kubelet).toEqual({ ok: true, address: '10.0.0.5' });
});

test('one address that accepts is enough', async () => {
  const bench = benchWith(async (address, port, signal) => {
    if (address === '10.0.0.5') await refused(address, port, signal);
  });
  await bench.take(reachKubelet);
  expect(bench.journey.kubelet).toEqual({ ok: true, address: '192.168.7.5' });
});

const failing: [about: string, dial: DialTcp, why: string][] = [
  ['refuses connections', refused, 'connect ECONNREFUSED 10.0.0.5:10250'],
  ['does not answer', silent, 'no answer within 5 s'],
];
for (const [about, dial, why] of failing) {
  test(`reports a kubelet that ${about}, and does not fail`, async () => {
    const bench = benchWith(dial);
    await bench.take(reachKubelet);
    expect(bench.journey.kubelet).toMatchObject({
      ok: false,
      problem: {
        code: 'KUBELET_UNREACHABLE',
        message: `Node win-5: the operator cannot connect to the kubelet at 10.0.0.5:10250, 192.168.7.5:10250 (${why})`,
        remedy: expect.stringContaining('New-NetFirewallRule -DisplayName ContainerLogsPort'),
      },
    });
    expect(bench.logged.messages('warn')).toEqual(['Kubelet cannot be reached']);
    const [step] = bench.journey.record.journal.timeline().slice(-1);
    expect(step).toMatchObject({ name: 'reach kubelet', finished: expect.any(String) });
  });
}

test('ends with the journey', async () => {
  const bench = benchWith(silent);
  const taking = bench.take(reachKubelet);
  bench.stop.abort(new Error('the operator stops'));
  await expect(taking).rejects.toThrow('the operator stops');
  expect(bench.journey.kubelet).toBeUndefined();
});

test('becomes a condition', async () => {
  const bench = benchWith(refused);
  await bench.take(reachKubelet);
  const { kubelet } = bench.journey;
  expect(kubelet && kubeletCondition(kubelet)).toMatchObject({
    type: 'KubeletReachable',
    status: 'False',
    reason: 'KUBELET_UNREACHABLE',
    message: expect.stringContaining('-LocalPort 10250'),
  });
  expect(kubeletCondition({ ok: true, address: '10.0.0.5' })).toMatchObject({ status: 'True', reason: 'Reachable' });
});
