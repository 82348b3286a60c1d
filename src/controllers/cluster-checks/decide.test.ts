import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { dueProblems, graceMs } from './decide.ts';

const lasting = new AppError('NETWORK_CLASS_E', 'class E', { remedy: 'Choose another.' });
const passing = new AppError('OBJECT_MISSING', 'no object', { remedy: 'Wait.' });
const none: ReadonlyMap<string, number> = new Map();

test('reports at once what only an administrator can fix', () => {
  expect(dueProblems([lasting], none, 5)).toMatchObject({ due: [lasting], isWaiting: false });
});

test('waits for what another part of the cluster provides, and then reports it', () => {
  const first = dueProblems([passing, lasting], none, 5);
  expect(first).toMatchObject({ due: [lasting], isWaiting: true });
  const later = dueProblems([passing, lasting], first.since, 5 + graceMs);
  expect(later).toMatchObject({ due: [passing, lasting], isWaiting: false });
});

test('a problem that was gone waits again', () => {
  const first = dueProblems([passing], none, 5);
  const gone = dueProblems([], first.since, 10);
  expect(gone.since.size).toBe(0);
  expect(dueProblems([passing], gone.since, 5 + graceMs)).toMatchObject({ due: [], isWaiting: true });
});
