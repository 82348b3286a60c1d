import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type KeyUse, neededKeys } from './decide.ts';

const pending = { hash: 'b', since: 'x', tried: 'y' };
const has = (
  hash: string,
  more: Partial<NonNullable<KeyUse['key']>> = {},
  wanted: string | undefined = hash,
): KeyUse => ({
  key: { hash, ...more },
  wasReached: true,
  wanted,
});
const unknown = { key: undefined, wanted: 'a' };

const rows: [name: string, current: string | undefined, uses: readonly KeyUse[], want: 'all' | string[]][] = [
  ['the current one without hosts', 'a', [], ['a']],
  ['all without a current one', undefined, [], 'all'],
  ['all without a current one, whatever hosts have', undefined, [has('a')], 'all'],
  ['the current one that all hosts have', 'a', [has('a'), has('a')], ['a']],
  ['all while a host has another one', 'b', [has('b'), has('a', {}, 'b')], 'all'],
  ['all while a host waits', 'b', [has('b'), has('a', { pending }, 'b')], 'all'],
  ['all while a host waits for what it has', 'b', [has('b', { pending })], 'all'],
  ['all while a host was reached, and no key is recorded', 'a', [{ ...unknown, wasReached: true }], 'all'],
  ['no more for a host that was never reached', 'a', [{ ...unknown, wasReached: false }], ['a']],
  ['those of hosts with keys of their own', 'a', [has('a'), has('x')], ['a', 'x']],
  ['that of a host whose own key cannot be read', 'a', [{ ...has('x'), wanted: undefined }], ['a', 'x']],
  ['those that have to be removed from hosts', 'a', [has('a', { former: ['y', 'z'] })], ['a', 'y', 'z']],
];
for (const [name, current, uses, want] of rows) {
  test(`needs ${name}`, () => {
    const needed = neededKeys(current, uses);
    expect(needed === 'all' ? needed : [...needed].toSorted()).toEqual(want);
  });
}

test('whatever hosts record, no key that one of them has, waits for or still has to lose is given up', () => {
  const someHash = fc.constantFrom('a', 'b', 'c', 'd', '');
  const someKey = fc.record(
    {
      hash: someHash,
      former: fc.array(someHash, { maxLength: 3 }),
      pending: fc.record({ hash: someHash, since: fc.constant('x'), tried: fc.constant('y') }),
    },
    { requiredKeys: ['hash'] },
  );
  const someUse = fc.record({
    key: fc.option(someKey, { nil: undefined }),
    wasReached: fc.boolean(),
    wanted: fc.option(someHash, { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.option(someHash, { nil: undefined }), fc.array(someUse, { maxLength: 6 }), (current, uses) => {
      const needed = neededKeys(current, uses);
      if (needed === 'all') return;
      expect(current !== undefined && needed.has(current)).toBe(true);
      for (const { key, wanted } of uses) {
        const named =
          key === undefined ? [] : [key.hash, ...(key.former ?? []), ...(wanted === undefined ? [] : [wanted])];
        expect(named.filter(hash => !needed.has(hash))).toEqual([]);
        expect(key?.pending).toBeUndefined();
      }
    }),
  );
});
