import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Certificate } from './bundle.ts';
import { type CertificatePlan, planCertificates } from './plan.ts';

/** Letters stand for certificates. */
const certificate = (letter: string): Certificate => ({ der: new TextEncoder().encode(letter), sha256: letter });
const certificates = (letters: string | undefined) => letters?.split('').map(certificate);
const plan = (bundle: string | undefined, imported: string | undefined, store: string) =>
  planCertificates(certificates(bundle), certificates(imported), store.split(''));
const storeAfter = (store: string, { add, remove }: CertificatePlan) =>
  [...store.split('').filter(letter => !remove.includes(letter)), ...add.map(({ sha256 }) => sha256)].join('');
const recordOf = ({ imported }: CertificatePlan) => imported?.map(({ sha256 }) => sha256).join('');

type Row = [
  name: string,
  bundle: string | undefined,
  imported: string | undefined,
  store: string,
  after: string,
  record: string | undefined,
  changed: boolean,
];
const rows: Row[] = [
  ['imports at first', 'AB', undefined, 'S', 'SAB', 'AB', true],
  ['does nothing when all is there', 'AB', 'AB', 'SAB', 'SAB', 'AB', false],
  ['does nothing when only the order differs', 'BA', 'AB', 'SAB', 'SAB', 'AB', false],
  ['adds one and drops one', 'BC', 'AB', 'SAB', 'SBC', 'BC', true],
  ['removes all without a bundle', undefined, 'A', 'SA', 'S', undefined, true],
  ['removes all with an empty bundle', '', 'A', 'SA', 'S', '', true],
  ['counts one that has gone already as a change', '', 'A', 'S', 'S', '', true],
  ['does nothing without a bundle and a record', undefined, undefined, 'S', 'S', undefined, false],
  ['drops an empty record without a bundle', undefined, '', 'S', 'S', undefined, false],
  ['makes no record for an empty bundle', '', undefined, 'S', 'S', undefined, false],
  ['puts back one that somebody removed', 'A', 'A', 'S', 'SA', 'A', true],
  ['does not take over one that was there before', 'SA', undefined, 'S', 'SA', 'A', true],
  ['makes no record when all were there before', 'S', undefined, 'S', 'S', undefined, false],
  ['does not remove one that was there before', '', 'A', 'SA', 'S', '', true],
  ['takes a certificate listed twice as one', 'AA', undefined, '', 'A', 'A', true],
  ['takes a record listed twice as one', undefined, 'AA', 'A', '', undefined, true],
];
for (const [name, bundle, imported, store, after, record, changed] of rows) {
  test(name, () => {
    const made = plan(bundle, imported, store);
    expect([storeAfter(store, made), recordOf(made), made.changed]).toEqual([after, record, changed]);
  });
}

type BackRow = [
  name: string,
  bundle: string | undefined,
  imported: string,
  store: string,
  after: string,
  record?: string,
];
const back: BackRow[] = [
  ['removes one that came back', '', '', 'SA', 'S', ''],
  ['removes one that came back without a bundle', undefined, '', 'SA', 'S'],
  ['takes one that came back and is wanted again as ours', 'A', '', 'SA', 'SA', 'A'],
  ['imports one anew that did not come back', 'A', '', 'S', 'SA', 'A'],
];
for (const [name, bundle, imported, store, after, record] of back) {
  test(name, () => {
    const made = planCertificates(certificates(bundle), certificates(imported), store.split(''), ['A']);
    expect([storeAfter(store, made), recordOf(made), made.changed]).toEqual([after, record, true]);
  });
}

test('ignores a removed certificate that stays removed', () => {
  expect(planCertificates([], [], ['S'], ['A'])).toMatchObject({ remove: [], changed: false });
});

test('does not remove later what it did not import, though the bundle has it', () => {
  const first = plan('SA', undefined, 'S');
  const second = planCertificates([], first.imported, ['S', 'A']);
  expect(second).toMatchObject({ add: [], remove: ['A'] });
});

const letters = fc.uniqueArray(fc.constantFrom(...'ABCDEF'.split('')), { maxLength: 6 }).map(list => list.join(''));

test('converges in one pass, and keeps certificates of other programs', () => {
  fc.assert(
    fc.property(letters, fc.array(letters, { maxLength: 4 }), (found, bundles) => {
      let [store, record]: [string, Certificate[] | undefined] = [found, undefined];
      for (const bundle of bundles) {
        const made = planCertificates(certificates(bundle), record, store.split(''));
        [store, record] = [storeAfter(store, made), made.imported];
        for (const letter of bundle) expect(store).toContain(letter);
        expect(planCertificates(certificates(bundle), record, store.split('')).changed).toBe(false);
      }
      const made = planCertificates(undefined, record, store.split(''));
      expect(storeAfter(store, made).split('').toSorted()).toEqual(found.split('').toSorted());
    }),
    { numRuns: 1000 },
  );
});
