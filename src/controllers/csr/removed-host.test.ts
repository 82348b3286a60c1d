import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { certificateSigningRequests, nodes } from '#kube/resources.ts';
import { asks, csrBench, lists, node, recorded } from '../../../test/kit/csr-bench.ts';
import { type Change, client, name, serving } from '../../../test/kit/csr-facts.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';

/** Of a host that was removed by force and still runs. */
const requests: [about: string, change: Change][] = [
  ['a serving certificate', serving],
  ['a client certificate by its bootstrap token', client],
];
for (const [about, change] of requests) {
  test(`a removed host does not get ${about}`, async () => {
    await using bench = await csrBench();
    await lists(bench, name, recorded(name, '10.0.0.1'));
    bench.api.remove(windowsInstances, name, namespace);
    if (change === serving) await bench.put(nodes, node(name, '10.0.0.1'));
    await asks(bench, change);
    await bench.clock.advance(3_600_000);
    const { status } = bench.api.peek(certificateSigningRequests, 'csr-1') ?? {};
    expect(status?.conditions ?? []).toEqual([]);
  });
}
