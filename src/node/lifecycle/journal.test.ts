import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { TimelineStep } from '#contract/windows-instance/resource.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { Journal } from './journal.ts';

const error = new AppError('HOST_UNREACHABLE', 'no answer', { remedy: 'Check it.' });
const at = (second: number) => `2026-03-01T12:00:${String(second).padStart(2, '0')}.000Z`;

const times = { usualMs: 5000, limitMs: 60_000 };

function bench(before: TimelineStep[] = []) {
  const clock = manualClock();
  let changes = 0;
  const journal = new Journal(before, clock, () => (changes += 1));
  return { clock, journal, changes: () => changes };
}

test('a step that begins and ends has its times and one attempt', async () => {
  const { clock, journal, changes } = bench();
  journal.begin('connect', times);
  expect(journal.step).toBe('connect');
  await clock.advance(2000);
  journal.finish('connect');
  expect(journal.timeline()).toEqual([{ name: 'connect', started: at(0), finished: at(2), attempts: 1 }]);
  expect(journal.step).toBeUndefined();
  expect(changes()).toBe(2);
});

test('a failure stays with the step, which stays the one under way', () => {
  const { journal, changes } = bench();
  journal.begin('connect', times);
  journal.fail('connect', error);
  expect(journal.timeline()).toEqual([
    {
      name: 'connect',
      started: at(0),
      attempts: 1,
      lastError: { code: 'HOST_UNREACHABLE', message: 'no answer', remedy: 'Check it.' },
    },
  ]);
  expect([journal.step, changes()]).toEqual(['connect', 2]);
});

test('another attempt counts, has its own start, and shows the last error until it succeeds', async () => {
  const { journal, clock } = bench([
    { name: 'connect', started: at(0), attempts: 2, lastError: { code: 'X', message: 'm', remedy: 'r' } },
  ]);
  await clock.advance(7000);
  journal.begin('connect', times);
  expect(journal.timeline()).toMatchObject([
    { started: at(7), firstStarted: at(0), attempts: 3, lastError: { code: 'X' } },
  ]);
  await clock.advance(2000);
  journal.finish('connect');
  expect(journal.timeline()).toEqual([
    { name: 'connect', started: at(7), firstStarted: at(0), finished: at(9), attempts: 3 },
  ]);
});

test('a step that was done before and is begun again is not finished any more', () => {
  const { journal } = bench([{ name: 'inventory', started: at(0), finished: at(1), attempts: 1 }]);
  journal.begin('inventory', times);
  expect(journal.timeline()[0]).not.toHaveProperty('finished');
});

const passes: [string, TimelineStep[], TimelineStep[], changes: number][] = [
  ['says nothing of a step that was never needed', [], [], 0],
  [
    'leaves a finished step as it is',
    [{ name: 'reboot', started: at(0), finished: at(1), attempts: 1 }],
    [{ name: 'reboot', started: at(0), finished: at(1), attempts: 1 }],
    0,
  ],
  [
    'closes a step that was cut short after it had done its work',
    [{ name: 'reboot', started: at(0), attempts: 1, lastError: { code: 'X', message: '', remedy: '' } }],
    [{ name: 'reboot', started: at(0), finished: at(0), attempts: 1 }],
    1,
  ],
];
for (const [name, before, after, told] of passes) {
  test(name, () => {
    const { journal, changes } = bench(before);
    journal.pass('reboot');
    expect([journal.timeline(), changes()]).toEqual([after, told]);
  });
}

test('notes and progress are changes, belong to a step and go with it', () => {
  const { journal, changes } = bench();
  journal.begin('stage', times);
  journal.note('others upload');
  journal.note('others upload');
  journal.report({ bytes: 1, totalBytes: 2 });
  expect([journal.activity?.waitsFor, journal.progress, changes()]).toEqual([
    'others upload',
    { bytes: 1, totalBytes: 2, started: at(0) },
    3,
  ]);
  journal.note(undefined);
  expect(journal.activity?.waitsFor).toBeUndefined();
  journal.begin('bootstrap', times);
  expect([journal.activity?.waitsFor, journal.progress]).toEqual([undefined, undefined]);
});

test('the activity of a step has its start, usual time, limit, and the remedy once it is slow', async () => {
  const { journal, clock, changes } = bench();
  expect(journal.activity).toBeUndefined();
  await clock.advance(3000);
  journal.begin('find node', times);
  expect(journal.activity).toEqual({ since: at(3), usualSeconds: 5, limitSeconds: 60 });
  journal.slow('Check it.');
  expect([journal.activity?.remedy, changes()]).toEqual(['Check it.', 2]);
  journal.begin('queued', { limitMs: 60_000 });
  expect(journal.activity).toEqual({ since: at(3), limitSeconds: 60 });
  journal.fail('queued', error);
  expect(journal.activity).toBeUndefined();
});

test('an upload has the time of its first byte', async () => {
  const { journal, clock } = bench();
  journal.begin('stage', times);
  await clock.advance(2000);
  journal.report({ bytes: 1, totalBytes: 9 });
  await clock.advance(2000);
  journal.report({ bytes: 5, totalBytes: 9 });
  expect(journal.progress).toEqual({ bytes: 5, totalBytes: 9, started: at(2) });
  journal.report({ bytes: 0, totalBytes: 9 });
  expect(journal.progress).toEqual({ bytes: 0, totalBytes: 9, started: at(4) });
});

test('attempts of steps never overlap', async () => {
  const { journal, clock } = bench();
  for (let round = 0; round < 3; round += 1) {
    for (const name of ['connect', 'inventory']) {
      journal.begin(name, times);
      await clock.advance(1000);
      journal.finish(name);
    }
    journal.begin('stage', times);
    await clock.advance(1000);
    journal.fail('stage', error);
  }
  const spans = journal.timeline().flatMap(({ started, finished }) => (finished ? [[started, finished]] : []));
  expect(spans).toEqual([
    [at(6), at(7)],
    [at(7), at(8)],
  ]);
});

test('words that are too long are cut', () => {
  const { journal } = bench();
  journal.fail('x', new AppError('STEP_TIMEOUT', 'm'.repeat(5000), { remedy: 'r'.repeat(5000) }));
  const { lastError } = journal.timeline()[0] ?? {};
  expect([lastError?.message.length, lastError?.remedy.length]).toEqual([2000, 2000]);
  journal.begin('x', times);
  journal.note('n'.repeat(5000));
  expect(journal.activity?.waitsFor).toHaveLength(2000);
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
        if (what === 'begin') journal.begin(step, times);
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
