import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { decide, type PairFacts } from './decide.ts';

const nowMs = 1000;
const problem = new AppError('TLS_PAIR_INVALID', 'bad', { remedy: 'Fix it.' });
const valid = { problem: undefined, renewAtMs: 2000 };
const due = { problem: undefined, renewAtMs: nowMs };
const broken = { problem, renewAtMs: nowMs };

const cases: [name: string, hasServiceCa: boolean, pair: PairFacts, want: string, asksServiceCa: boolean][] = [
  ['without a service CA creates a missing pair', false, { state: 'missing' }, 'create', false],
  ['without a service CA keeps its own valid pair', false, { state: 'own', ...valid }, 'keep', false],
  ['without a service CA renews its own pair in time', false, { state: 'own', ...due }, 'renew', false],
  ['without a service CA repairs its own pair', false, { state: 'own', ...broken }, 'renew', false],
  ['without a service CA keeps the pair of another owner', false, { state: 'other', ...due }, 'keep', false],
  ['without a service CA keeps a broken pair of another owner', false, { state: 'other', ...broken }, 'keep', false],
  ['waits until a Secret is deleted', false, { state: 'deleting' }, 'keep', false],
  ['asks a service CA for a missing pair', true, { state: 'missing' }, 'keep', true],
  ['keeps the pair of the service CA', true, { state: 'other', ...valid }, 'keep', true],
  ['keeps even an expired pair of the service CA', true, { state: 'other', ...broken }, 'keep', true],
  ['deletes its own pair before it asks a service CA', true, { state: 'own', ...valid }, 'delete', false],
  ['asks a service CA while a Secret is being deleted', true, { state: 'deleting' }, 'keep', true],
];
for (const [name, hasServiceCa, pair, want, asksServiceCa] of cases) {
  test(name, () => expect(decide({ hasServiceCa, pair, nowMs })).toEqual({ pair: want, asksServiceCa }));
}
