import { expect, test } from 'vitest';
import { parseGrants } from './rollout-grants.ts';

const grant = { node: 'win-5', journey: 'remove', since: '2026-07-01T12:00:00Z' };

test('reads grants by instance', () => {
  expect(parseGrants({ a: JSON.stringify(grant) })).toEqual(new Map([['a', grant]]));
  expect(parseGrants()).toEqual(new Map());
});

const invalid: [what: string, text: string][] = [
  ['no JSON', '{'],
  ['no object', '"x"'],
  ['an unknown journey', JSON.stringify({ ...grant, journey: 'sleep' })],
  ['a node that is no text', JSON.stringify({ ...grant, node: 1 })],
  ['an invalid time', JSON.stringify({ ...grant, since: 'soon' })],
  ['a huge value', JSON.stringify({ ...grant, node: 'x'.repeat(5000) })],
];
for (const [what, text] of invalid) {
  test(`leaves out ${what} and keeps the others`, () => {
    expect([...parseGrants({ bad: text, good: JSON.stringify(grant) }).keys()]).toEqual(['good']);
  });
}
