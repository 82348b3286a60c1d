import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { TimelineStep } from '#contract/windows-instance/resource.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { Journal, type JournalChange } from './journal.ts';

const error = new AppError('HOST_UNREACHABLE', 'no answer', { remedy: 'Check it.' });
const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`;

function bench(before: TimelineStep[] = []) {
  const clock = manualClock();
  const news: JournalChange[] = [];
  const journal = new Journal(before, clock, one => void news.push(one));
  return { clock, news, journal };
}

test('a step that begins and ends has its times and one attempt', async () => {
  const { clock, journal, news } = bench();
  journal.begin('connect');
  expect(journal.step).toBe('connect');
  await clock.advance(2000);
  journal.finish('connect');
  expect(journal.timeline()).toEqual([{ name: 'connect', started: at(0), finished: at(2), attempts: 1 }]);
  expect(journal.step).toBeUndefined();
  expect(news).toEqual(['step', 'detail']);
});

test('a failure stays with the step, which stays the one under way', () => {
  const { journal, news } = bench();
  journal.begin('connect');
  journal.fail('connect', error);
  expect(journal.timeline()).toEqual([
    {
      name: 'connect',
      started: at(0),
      attempts: 1,
      lastError: { code: 'HOST_UNREACHABLE', message: 'no answer', remedy: 'Check it.' },
    },
  ]);
  expect([journal.step, news]).toEqual(['connect', ['step', 'step']]);
});

test('another attempt counts, begins where the first did, and shows the last error until it succeeds', async () => {
  const { journal, clock } = bench([
    { name: 'connect', started: at(0), attempts: 2, lastError: { code: 'X', message: 'm', remedy: 'r' } },
  ]);
  await clock.advance(7000);
  journal.begin('connect');
  expect(journal.timeline()).toMatchObject([{ started: at(0), attempts: 3, lastError: { code: 'X' } }]);
  journal.finish('connect');
  expect(journal.timeline()).toEqual([{ name: 'connect', started: at(0), finished: at(7), attempts: 3 }]);
});

test('a step that was done before and is begun again is not finished any more', () => {
  const { journal } = bench([{ name: 'inventory', started: at(0), finished: at(1), attempts: 1 }]);
  journal.begin('inventory');
  expect(journal.timeline()[0]).not.toHaveProperty('finished');
});

const passes: [string, TimelineStep[], TimelineStep[], JournalChange[]][] = [
  ['says nothing of a step that was never needed', [], [], []],
  [
    'leaves a finished step as it is',
    [{ name: 'reboot', started: at(0), finished: at(1), attempts: 1 }],
    [{ name: 'reboot', started: at(0), finished: at(1), attempts: 1 }],
    [],
  ],
  [
    'closes a step that was cut short after it had done its work',
    [{ name: 'reboot', started: at(0), attempts: 1, lastError: { code: 'X', message: '', remedy: '' } }],
    [{ name: 'reboot', started: at(0), finished: at(0), attempts: 1 }],
    ['detail'],
  ],
];
for (const [name, before, after, told] of passes) {
  test(name, () => {
    const { journal, news } = bench(before);
    journal.pass('reboot');
    expect([journal.timeline(), news]).toEqual([after, told]);
  });
}

test('notes and progress are news of a detail, belong to a step and go with it', () => {
  const { journal, news } = bench();
  journal.begin('stage');
  journal.note('others upload');
  journal.note('others upload');
  journal.report({ bytes: 1, totalBytes: 2 });
  expect([journal.waitsFor, journal.progress, news]).toEqual([
    'others upload',
    { bytes: 1, totalBytes: 2 },
    ['step', 'detail', 'detail'],
  ]);
  journal.note(undefined);
  expect(journal.waitsFor).toBeUndefined();
  journal.begin('bootstrap');
  expect([journal.waitsFor, journal.progress]).toEqual([undefined, undefined]);
});

test('words that are too long are cut', () => {
  const { journal } = bench();
  journal.fail('x', new AppError('STEP_TIMEOUT', 'm'.repeat(5000), { remedy: 'r'.repeat(5000) }));
  const { lastError } = journal.timeline()[0] ?? {};
  expect([lastError?.message.length, lastError?.remedy.length]).toEqual([2000, 2000]);
  journal.note('n'.repeat(5000));
  expect(journal.waitsFor).toHaveLength(2000);
});

test('whatever happens, each step is there once, in the order of its first attempt, never with more ends than begins', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const act = fc.record({ do: fc.constantFrom('begin', 'finish', 'fail', 'pass'), name });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30 }), acts => {
      const { journal } = bench();
      const begun: string[] = [];
      for (const { do: what, name: step } of acts) {
        if (what === 'begin' && !begun.includes(step)) begun.push(step);
        if (what === 'begin') journal.begin(step);
        else if (begun.includes(step) && what === 'finish') journal.finish(step);
        else if (begun.includes(step) && what === 'fail') journal.fail(step, error);
        else if (what === 'pass') journal.pass(step);
      }
      expect(journal.timeline().map(step => step.name)).toEqual(begun);
      for (const { attempts } of journal.timeline()) expect(attempts).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});
