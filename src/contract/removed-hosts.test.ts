import { expect, test } from 'vitest';
import { parseRemovedHosts } from './removed-hosts.ts';

const note = { removed: '2026-07-01T12:00:00Z', address: '10.0.0.5', instance: 'win-5' };

test('reads notes by Node name', () => {
  expect(parseRemovedHosts({ 'win-5': JSON.stringify(note) })).toEqual(new Map([['win-5', note]]));
  expect(parseRemovedHosts()).toEqual(new Map());
});

const invalid: [what: string, text: string][] = [
  ['no JSON', 'x'],
  ['no object', '[]'],
  ['a missing time', JSON.stringify({ ...note, removed: undefined })],
  ['an invalid time', JSON.stringify({ ...note, removed: 'yesterday' })],
  ['an address that is no text', JSON.stringify({ ...note, address: 5 })],
  ['a missing instance', JSON.stringify({ ...note, instance: undefined })],
  ['a huge value', JSON.stringify({ ...note, address: 'x'.repeat(5000) })],
];
for (const [what, text] of invalid) {
  test(`leaves out ${what} and keeps the others`, () => {
    expect([...parseRemovedHosts({ bad: text, good: JSON.stringify(note) }).keys()]).toEqual(['good']);
  });
}
