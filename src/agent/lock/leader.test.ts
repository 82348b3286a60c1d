import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareLeader, type LeaderTerm, parseLeader, parseTerm, printLeader } from './leader.ts';

const uid = '0b5c1f0e-7a7b-4f4b-9d7c-2f6f5f1f0a01';
const other = '11111111-2222-4333-8444-555555555555';

const terms: [text: string, want: LeaderTerm | undefined][] = [
  [`${uid}.0`, { lease: uid, count: 0 }],
  [`${uid.toUpperCase()}.12`, { lease: uid, count: 12 }],
  [`${uid}.`, undefined],
  [uid, undefined],
  [`${uid}.-1`, undefined],
  [`${uid}.1e3`, undefined],
  [`${uid}.1234567890123456`, undefined],
  [` ${uid}.1`, undefined],
  [`${uid}.1\n`, undefined],
  ['', undefined],
];
for (const [text, want] of terms) {
  test(`reads ${JSON.stringify(text)} as ${want === undefined ? 'no leader' : `leader ${want.count}`}`, () =>
    expect(parseTerm(text)).toEqual(want));
}

for (const text of [
  '',
  '{',
  'null',
  '[]',
  '{"lease":"x","count":1}',
  `{"lease":"${uid}"}`,
  `{"lease":"${uid}","count":-1}`,
]) {
  test(`takes the record ${text} for none`, () => expect(parseLeader(text)).toBeUndefined());
}

const compared: [known: LeaderTerm | undefined, given: LeaderTerm, want: string][] = [
  [undefined, { lease: uid, count: 0 }, 'new'],
  [{ lease: uid, count: 3 }, { lease: uid, count: 4 }, 'new'],
  [{ lease: uid, count: 3 }, { lease: uid, count: 3 }, 'same'],
  [{ lease: uid, count: 3 }, { lease: uid, count: 2 }, 'stale'],
  [{ lease: other, count: 3 }, { lease: uid, count: 0 }, 'new'],
];
for (const [known, given, want] of compared) {
  test(`leader ${given.count} is ${want} after ${known === undefined ? 'none' : JSON.stringify(known)}`, () =>
    expect(compareLeader(known, given)).toBe(want));
}

test('reads what it has printed', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat(), (lease, count) => {
      expect(parseLeader(printLeader({ lease, count }))).toEqual({ lease, count });
    }),
  );
});
