import { expect, test } from 'vitest';
import { certificateSigningRequests, nodes } from '#kube/resources.ts';
import {
  type CsrBench,
  agentHere,
  asks,
  csrBench,
  lists,
  node,
  recorded,
  stateOf,
} from '../../../test/kit/csr-bench.ts';
import { type Change, name, serving } from '../../../test/kit/csr-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { Approver } from './act/approver.ts';
import { Readings } from './act/readings.ts';

const record = recorded(name, '10.0.0.1');
const renewal: Change = { ...agentHere, username: `system:wicd-node:${name}`, credentialId: undefined };
const names = (count: number) => Array.from({ length: count }, (_, index) => `csr-${index}`);

async function floodBench() {
  const bench = await csrBench();
  await lists(bench, name, record);
  await bench.put(nodes, node(name, '10.0.0.1'));
  return bench;
}

test('hundreds of bad requests of one agent are one event more than it may have, and one line in the log', async () => {
  await using bench = await floodBench();
  for (const csr of names(100)) await asks(bench, { ...renewal, usages: [] }, csr);
  await bench.put(nodes, node('other', '10.0.0.7'));
  await lists(bench, name, recorded(name, '10.0.0.9'));
  const crowds = bench.events.filter(line => line.includes('CSRsTooMany'));
  expect(crowds).toEqual([expect.stringContaining(`"system:wicd-node:${name}" has more than 20 pending CSRs`)]);
  expect(bench.events.filter(line => line.includes('CSRRefused'))).toHaveLength(20);
  expect(bench.log.messages('warn')).toEqual(['Judging only some CSRs of one requester']);
  expect(bench.log.messages('info')).toHaveLength(20);
});

test('a crowd of foreign users is ignored', async () => {
  await using bench = await floodBench();
  for (const csr of names(30)) await asks(bench, { ...agentHere, commonNames: ['joe'], username: 'joe' }, csr);
  expect([bench.events, bench.log.messages('warn')]).toEqual([[], []]);
});

test('bad requests in any number keep neither their maker nor others from certificates', async () => {
  await using bench = await floodBench();
  for (const csr of names(60)) await asks(bench, { ...renewal, usages: [] }, csr);
  await asks(bench, renewal, 'good');
  await asks(bench, serving, 'of the kubelet');
  expect([stateOf(bench, 'good'), stateOf(bench, 'of the kubelet')]).toEqual([
    'Approved WICDAutoApproved',
    'Approved WMCOApprove',
  ]);
});

test('good requests in any number are all approved in the end', async () => {
  await using bench = await floodBench();
  bench.api.isPaused = true;
  for (const csr of names(90)) await asks(bench, renewal, csr);
  bench.api.isPaused = false;
  for (const csr of names(90)) {
    const made = bench.api.peek(certificateSigningRequests, csr);
    if (made !== undefined) bench.api.put(certificateSigningRequests, made);
  }
  for (let turn = 0; turn < 100; turn += 1) await settle();
  expect(new Set(names(90).map(csr => stateOf(bench, csr)))).toEqual(new Set(['Approved WICDAutoApproved']));
});

test('a Node or a record that a request is not about causes no pass', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await asks(bench, renewal);
  expect(bench.events).toEqual([expect.stringContaining('(windows-node)')]);
  bench.api.calls.length = 0;
  await bench.put(nodes, node('other', '10.0.0.7'));
  await lists(bench, 'win7.example.com', recorded('win7', '10.0.0.8'));
  expect(bench.api.calls).toEqual([]);
  await bench.put(nodes, node(name, '10.0.0.1'));
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
});

const releases: [string, (bench: CsrBench) => unknown][] = [
  ['that Node is gone', ({ api }) => api.remove(nodes, 'other')],
  ['that Node does not report it any more', bench => bench.put(nodes, node('other', '10.0.0.6'))],
];
for (const [when, release] of releases) {
  test(`a server name that another Node had is given as soon as ${when}`, () => givesName(release));
}

async function givesName(release: (bench: CsrBench) => unknown): Promise<void> {
  await using bench = await floodBench();
  await lists(bench, name, { ...record, host: { name, addresses: ['10.0.0.1', '10.0.0.5'] } });
  await bench.put(nodes, node('other', '10.0.0.5'));
  await asks(bench, { ...serving, ips: [[10, 0, 0, 5]] });
  expect(bench.events).toEqual([expect.stringContaining('belongs to Node other')]);
  await release(bench);
  await settle();
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
}

test('each version of a request is read once', async () => {
  await using bench = await floodBench();
  await asks(bench, renewal);
  const made = bench.api.peek(certificateSigningRequests, 'csr-1');
  if (made === undefined) throw new Error('csr-1 is gone');
  const readings = new Readings();
  expect([...readings.openFor([name])]).toEqual([]);
  const first = readings.read(made);
  expect(first).toMatchObject({ csr: { ok: true }, subject: { node: name } });
  expect(readings.read(made)).toBe(first);
  expect([...readings.openFor([name, 'other'])]).toEqual([{ namespace: '', name: 'csr-1' }]);
  readings.close(made.metadata.uid ?? '');
  expect([...readings.openFor([name])]).toEqual([]);
  expect(readings.read({ ...made })).not.toBe(first);
});

test('others get their turn before every pass', async () => {
  await using bench = await csrBench({ isStarted: false });
  const approver = new Approver({ ...bench.parts } as never, { requests: { get: () => undefined } } as never);
  let hasTurned = false;
  setImmediate(() => (hasTurned = true));
  await approver.reconcile({ namespace: '', name: 'csr-1' }, {} as never);
  expect(hasTurned).toBe(true);
});
