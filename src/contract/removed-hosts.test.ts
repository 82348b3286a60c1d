import { expect, test } from 'vitest';
import { parseRemovedHosts, printRemovedHost, type RemovedHost, surplusHosts } from './removed-hosts.ts';

const host: RemovedHost = { node: 'win-1', removed: '2026-03-01T12:00:00Z', address: '10.0.0.1', instance: 'win1' };
const { node: _node, ...value } = host;
const valueWith = (change: object) => JSON.stringify({ ...value, ...change });

test('reads what it prints', () => {
  expect(parseRemovedHosts({ [host.node]: printRemovedHost(host) })).toEqual([{ ok: true, value: host }]);
});

test('a missing ConfigMap has no hosts', () => expect(parseRemovedHosts()).toEqual([]));

const malformed: [about: string, key: string, text: string][] = [
  ['no JSON', 'win-1', 'yes'],
  ['a list', 'win-1', '[]'],
  ['null', 'win-1', 'null'],
  ['an empty value', 'win-1', ''],
  ['a key that is no Node name', 'Win_1', valueWith({})],
  ['a missing time', 'win-1', valueWith({ removed: undefined })],
  ['a time without a zone', 'win-1', valueWith({ removed: '2026-03-01T12:00:00' })],
  ['an impossible time', 'win-1', valueWith({ removed: '2026-13-01T12:00:00Z' })],
  ['a time as a number', 'win-1', valueWith({ removed: 5 })],
  ['an empty address', 'win-1', valueWith({ address: '' })],
  ['an address that is too long', 'win-1', valueWith({ address: 'a'.repeat(254) })],
  ['a missing instance', 'win-1', valueWith({ instance: undefined })],
  ['a value that is too long', 'win-1', valueWith({ more: 'x'.repeat(2000) })],
];
for (const [about, key, text] of malformed) {
  test(`rejects ${about} and keeps the others`, () => {
    const [first, second] = parseRemovedHosts({ [key]: text, 'win-2': valueWith({}) });
    expect(first).toMatchObject({ ok: false, error: { code: 'REMOVED_HOST_MALFORMED' } });
    expect(second).toMatchObject({ ok: true, value: { node: 'win-2' } });
  });
}

test('the oldest hosts beyond the limit are surplus', () => {
  const hosts = [3, 1, 2].map(day => ({ ...host, node: `win-${day}`, removed: `2026-03-0${day}T12:00:00Z` }));
  expect(surplusHosts(hosts, 1)).toEqual(['win-2', 'win-1']);
  expect(surplusHosts(hosts)).toEqual([]);
});
