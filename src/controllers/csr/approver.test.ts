import { expect, test } from 'vitest';
import { nodes } from '#kube/resources.ts';
import { asks, csrBench, lists, node, stateOf } from '../../../test/kit/csr-bench.ts';
import { type Change, client, name } from '../../../test/kit/csr-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';

const short: Change = { ...client, commonNames: ['system:node:win-a'] };

test('finds a host by the name that DNS has for its address', async () => {
  await using bench = await csrBench();
  await lists(bench, '10.0.0.1');
  bench.zone.set('10.0.0.1', ['win-a.corp.local.']);
  await asks(bench, short);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  expect(bench.asked).toEqual([]);
});

test('refuses, and does not ignore, a bad request of a host that DNS knows', async () => {
  await using bench = await csrBench();
  await lists(bench, '10.0.0.1');
  bench.zone.set('10.0.0.1', ['win-a.corp.local.']);
  await asks(bench, { ...short, username: 'system:admin' });
  expect(bench.events).toEqual([expect.stringContaining('(requester)')]);
});

test('asks the host itself when DNS does not know it, and approves when it answers', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'win-a.corp.local', '10.0.0.2': 'win-b' });
  await lists(bench, '10.0.0.1');
  await lists(bench, '10.0.0.2');
  bench.zone.set('10.0.0.1', new Error('no DNS'));
  await asks(bench, short);
  await settle();
  expect(bench.asked).toEqual(['10.0.0.1', '10.0.0.2']);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  // The answers serve the next request as well.
  await asks(bench, { ...client, commonNames: ['system:node:win-b'] }, 'csr-2');
  expect(stateOf(bench, 'csr-2')).toBe('Approved WMCOApprove');
  expect(bench.asked).toHaveLength(2);
});

test('does not approve a name of which the host has only a part', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'win-abc.corp.local' });
  await lists(bench, '10.0.0.1');
  await asks(bench, short);
  await bench.clock.advance(600_000);
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([]);
});

test('asks nobody because of a request that could not be approved anyway', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'win-a' });
  await lists(bench, '10.0.0.1');
  await asks(bench, { ...short, username: 'system:admin' });
  expect(bench.asked).toEqual([]);
  expect(bench.events).toEqual([]);
});

test('a dead host delays neither the answer of another nor the next request', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'dead', '10.0.0.2': 'win-a' });
  await lists(bench, '10.0.0.1');
  await lists(bench, '10.0.0.2');
  await lists(bench, name);
  await asks(bench, short);
  await asks(bench, client, 'csr-2');
  await settle();
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  expect(stateOf(bench, 'csr-2')).toBe('Approved WMCOApprove');
});

test('name servers that say nothing delay a request by half a second', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'win-a' });
  await lists(bench, '10.0.0.1');
  await lists(bench, 'slow.example.com');
  bench.zone.set('10.0.0.1', 'silent');
  bench.zone.set('slow.example.com', 'silent');
  await asks(bench, short);
  expect(stateOf(bench)).toBe('pending');
  await bench.clock.advance(500);
  await bench.clock.advance(500);
  await bench.clock.advance(500);
  await bench.clock.advance(500);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('asks a host that did not answer again, for as long as somebody waits', async () => {
  await using bench = await csrBench();
  await lists(bench, '10.0.0.1');
  await asks(bench, short);
  expect(bench.asked).toHaveLength(1);
  bench.hosts.set('10.0.0.1', 'win-a');
  await bench.clock.advance(15_000);
  await settle();
  expect(bench.asked).toHaveLength(2);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  await bench.clock.advance(3_600_000);
  expect(bench.asked).toHaveLength(2);
});

test('a host that was renamed meanwhile is asked again', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'old-name' });
  await lists(bench, '10.0.0.1');
  await asks(bench, short);
  await settle();
  expect(stateOf(bench)).toBe('pending');
  bench.hosts.set('10.0.0.1', 'win-a');
  await bench.clock.advance(180_000);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('asks no host that is another node already', async () => {
  await using bench = await csrBench({ '10.0.0.1': 'win-a', '10.0.0.2': 'win-a' });
  await lists(bench, '10.0.0.1');
  await bench.put(nodes, node('win-x', '10.0.0.1'));
  await asks(bench, short);
  expect(bench.asked).toEqual([]);
  expect(stateOf(bench)).toBe('pending');
});
