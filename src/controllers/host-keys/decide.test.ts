import { expect, test } from 'vitest';
import { decide, graceMs, type HostKeyFacts } from './decide.ts';

const entry = JSON.stringify(['10.0.0.1', 'key']);
const facts: HostKeyFacts = {
  entries: { '10.0.0.1': 'key' },
  needed: new Set(),
  hasOrphans: false,
  unusedSince: new Map([[entry, 0]]),
  nowMs: graceMs,
};
const cases: [about: string, change: Partial<HostKeyFacts>, remove: string[]][] = [
  ['removes an entry that nothing has needed for a week', {}, ['10.0.0.1']],
  ['keeps it before', { nowMs: graceMs - 1 }, []],
  ['keeps it at first sight', { unusedSince: new Map() }, []],
  ['keeps one that is needed', { needed: new Set(['10.0.0.1']) }, []],
  [
    'keeps one that is needed in another spelling',
    { entries: { 'Win.Example.': 'k' }, needed: new Set(['win.example']) },
    [],
  ],
  ['keeps one whose key was changed meanwhile', { entries: { '10.0.0.1': 'other' } }, []],
  ['keeps all while a Node is not recorded', { hasOrphans: true }, []],
  ['has nothing to do without entries', { entries: {} }, []],
];
for (const [about, change, remove] of cases)
  test(`UPG-04: ${about}`, () => expect(decide({ ...facts, ...change }).remove).toEqual(remove));

test('UPG-04: the week begins anew when the entry was needed meanwhile', () => {
  const needed = decide({ ...facts, needed: new Set(['10.0.0.1']), nowMs: graceMs - 1 });
  const after = decide({ ...facts, unusedSince: needed.unusedSince });
  expect(after).toEqual({ remove: [], unusedSince: new Map([[entry, graceMs]]) });
});
