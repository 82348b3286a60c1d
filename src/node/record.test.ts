import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InstanceIdentity, InstanceToken } from '#contract/windows-instance/resource.ts';
import { addTokens, identityEndsMs, mergeRecord } from './record.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const at = (ms: number) => new Date(nowMs + ms).toISOString();
const token = (id: string, expiresMs = 3_600_000): InstanceToken => ({ id, use: 'agent', expires: at(expiresMs) });

const additions: [string, InstanceToken[] | undefined, InstanceToken[], string[]][] = [
  ['keeps the first tokens', undefined, [token('a'), token('b')], ['a', 'b']],
  ['adds to those that still live', [token('a')], [token('b')], ['a', 'b']],
  ['drops expired ones', [token('a', -1), token('b', 0), token('c', 1)], [token('d')], ['c', 'd']],
  ['names each token once', [token('a'), token('b')], [token('a')], ['b', 'a']],
  ['keeps one whose end cannot be read', [{ ...token('a'), expires: '?' }], [token('b')], ['a', 'b']],
  ['records new tokens even if they have expired', [], [token('a', -1)], ['a']],
];
for (const [name, known, added, want] of additions) {
  test(name, () => expect(addTokens(known, added, nowMs).map(({ id }) => id)).toEqual(want));
}

const someTokens = (prefix: string, maxLength: number) =>
  fc
    .array(fc.integer({ min: -10, max: 10 }), { maxLength })
    .map(ends => ends.map((end, index) => token(`${prefix}${index}`, end * 60_000)));

test('the list of tokens is bounded, has those just handed out, and nothing that has expired', () => {
  fc.assert(
    fc.property(someTokens('old', 60), someTokens('new', 4), (known, added) => {
      const tokens = addTokens(known, added, nowMs);
      expect(tokens.length).toBeLessThanOrEqual(64);
      expect(tokens.slice(tokens.length - added.length)).toEqual(added);
      const isExpired = ({ id, expires }: InstanceToken) => id.startsWith('old') && Date.parse(expires) <= nowMs;
      expect(tokens.filter(isExpired)).toEqual([]);
      expect(new Set(tokens.map(({ id }) => id)).size).toBe(tokens.length);
    }),
  );
});

test('however often tokens are handed out, the newest that still live stay', () => {
  fc.assert(
    fc.property(fc.array(someTokens('t', 3), { minLength: 1, maxLength: 30 }), rounds => {
      let tokens: InstanceToken[] = [];
      const given: InstanceToken[] = [];
      for (const [round, added] of rounds.entries()) {
        const own = added.map(each => ({ ...each, id: `${round}-${each.id}` }));
        given.push(...own);
        tokens = addTokens(tokens, own, nowMs);
      }
      const living = given.filter(({ expires }) => Date.parse(expires) > nowMs).slice(-10);
      expect(tokens).toEqual(expect.arrayContaining(living));
    }),
  );
});

const identity = (keyHash: string, certificateEnds?: string): InstanceIdentity => ({
  keyHash,
  installed: at(0),
  ...(certificateEnds && { certificateEnds }),
});

const merges: [string, InstanceIdentity | undefined, InstanceIdentity | undefined, InstanceIdentity | undefined][] = [
  ['a first key', undefined, identity('a'), identity('a')],
  ['the same key with its certificate', identity('a', at(9)), identity('a'), identity('a', at(9))],
  [
    'the time of a new installation of the same key',
    { ...identity('a', at(9)), installed: at(-9) },
    identity('a'),
    identity('a', at(9)),
  ],
  ['a new key without the certificate of the former one', identity('a', at(9)), identity('b'), identity('b')],
  ['nothing where nothing is recorded', identity('a', at(9)), undefined, undefined],
];
for (const kind of ['agent', 'cloudNode'] as const) {
  for (const [name, before, change, want] of merges) {
    test(`records ${name} (${kind})`, () => {
      const merged = mergeRecord({ ...(before && { [kind]: before }) }, { ...(change && { [kind]: change }) });
      expect(merged[kind]).toEqual(want);
    });
  }
}

test('records only what has changed, and everything that has', () => {
  const host = { name: 'win-1', addresses: ['10.0.0.5'] };
  expect(mergeRecord({ hostKey: 'k', host: { name: 'old', addresses: [] } }, { host })).toEqual({ host });
});

test('never loses the end of a certificate for the same key, and never keeps it for another', () => {
  const hash = fc.constantFrom('a', 'b');
  fc.assert(
    fc.property(hash, hash, fc.option(fc.constantFrom(at(1), at(2)), { nil: undefined }), (old, now, ends) => {
      const { agent } = mergeRecord({ agent: identity(old, ends) }, { agent: identity(now) });
      expect(agent?.certificateEnds).toBe(old === now ? ends : undefined);
      expect(agent?.keyHash).toBe(now);
    }),
  );
});

const ends: [string, InstanceIdentity | undefined, number | undefined][] = [
  ['never without an agent of ours', undefined, undefined],
  ['with its certificate', identity('a', at(90_000)), nowMs + 90_000],
  ['half an hour after the installation without a certificate', identity('a'), nowMs + 1_800_000],
  ['half an hour after the installation if the end cannot be read', identity('a', '?'), nowMs + 1_800_000],
  ['long ago if nobody knows when it was installed', { ...identity('a'), installed: '?' }, 1_800_000],
];
for (const [name, given, want] of ends) {
  test(`an agent is out of credentials ${name}`, () =>
    expect(identityEndsMs(given === undefined ? {} : { agent: given })).toBe(want));
}

test('an installation is not repeated within a minute, whatever clocks say', () => {
  const ended = { keyHash: 'a', installed: new Date(nowMs).toISOString(), certificateEnds: '2020-01-01T00:00:00Z' };
  expect(identityEndsMs({ agent: ended })).toBe(nowMs + 60_000);
});

test('the identity of cloud-node-manager counts, too', () => {
  const of = (ms: number) => ({
    keyHash: 'a',
    installed: new Date(0).toISOString(),
    certificateEnds: new Date(nowMs + ms).toISOString(),
  });
  expect(identityEndsMs({ agent: of(2000), cloudNode: of(1000) })).toBe(nowMs + 1000);
});
