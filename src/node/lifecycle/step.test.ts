import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { ApiError } from '#kube/api-error.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { type ManualClock, manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { Journal } from './journal.ts';
import { asAppError, runSteps, type Step, stepMetrics } from './step.ts';

type SetUpOptions = string[];

const step = (name: string, over: Partial<Step<SetUpOptions>> = {}): Step<SetUpOptions> => ({
  name,
  description: 'something',
  limitMs: 1000,
  remedy: () => 'Check it.',
  run: async deps => void deps.push(name),
  ...over,
});

function bench() {
  const clock: ManualClock = manualClock();
  const stop = new AbortController();
  const [metrics, logged] = [new MemoryMetrics(), recordedLog()];
  const journal = new Journal([], clock, () => undefined);
  const run = { journal, clock, metrics, log: logged.log, signal: stop.signal };
  return { ...run, run, stop, logged };
}

test('runs the steps in order and reports each before it runs', async () => {
  const { run, journal, logged } = bench();
  const did: SetUpOptions = [];
  await runSteps([step('a'), step('b')], did, run);
  expect(did).toEqual(['a', 'b']);
  expect(journal.timeline().map(({ name, finished }) => [name, finished !== undefined])).toEqual([
    ['a', true],
    ['b', true],
  ]);
  expect(logged.lines.map(({ message, fields }) => [message, fields['step']])).toEqual([
    ['Running step', 'a'],
    ['Running step', 'b'],
  ]);
});

test('skips steps that are done, as known at that point', async () => {
  const { run, journal } = bench();
  const did: SetUpOptions = [];
  await runSteps(
    [step('a'), step('b', { isDone: deps => deps.includes('a') }), step('c', { isDone: () => false })],
    did,
    run,
  );
  expect(did).toEqual(['a', 'c']);
  expect(journal.timeline().map(({ name }) => name)).toEqual(['a', 'c']);
});

test('ends with the first failure, which is in the timeline and the metrics', async () => {
  const { run, journal, metrics } = bench();
  const did: SetUpOptions = [];
  const failing = step('b', {
    run: () => Promise.reject(new AppError('HOST_DISK_FULL', 'full', { remedy: 'Make room.' })),
  });
  const error = await rejectionOf(runSteps([step('a'), failing, step('c')], did, run));
  expect([error?.code, did, journal.step]).toEqual(['HOST_DISK_FULL', ['a'], 'b']);
  expect(journal.timeline()[1]?.lastError).toEqual({ code: 'HOST_DISK_FULL', message: 'full', remedy: 'Make room.' });
  expect(metrics.read(stepMetrics.seconds, { step: 'a', result: 'done' })).toBe(1);
  expect(metrics.read(stepMetrics.seconds, { step: 'b', result: 'failed' })).toBe(1);
});

const limits: [limitMs: number, text: string][] = [
  [30_000, '30 s'],
  [90_000, '90 s'],
  [600_000, '10 min'],
];
for (const [limitMs, text] of limits) {
  test(`gives up a step after its limit of ${text}, tells it to stop, and reports it`, async () => {
    const { run, clock } = bench();
    let signal: AbortSignal | undefined;
    const hanging = step('a', { limitMs, run: (_, turn) => ((signal = turn.signal), new Promise(() => undefined)) });
    const ended = rejectionOf(runSteps([hanging], [], run));
    await clock.advance(limitMs - 1);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await ended).toMatchObject({
      code: 'STEP_TIMEOUT',
      message: `step "a" did not finish within ${text}`,
      remedy: expect.stringMatching(/\.$/) as string,
    });
    expect(signal?.aborted).toBe(true);
    expect(clock.sleepers()).toBe(0);
  });
}

test('reports a timeout with the error of the step', async () => {
  const { run, clock } = bench();
  const timeout = {
    code: 'NODE_NOT_FOUND',
    message: (deps: SetUpOptions) => `no Node for ${deps[0]}`,
  } as const;
  const hanging = step('a', { timeout, remedy: deps => `Check ${deps[0]}.`, run: () => new Promise(() => undefined) });
  const ended = rejectionOf(runSteps([hanging], ['win-1'], run));
  await settle();
  await clock.advance(1000);
  expect(await ended).toMatchObject({
    code: 'NODE_NOT_FOUND',
    message: 'no Node for win-1 within 1 s',
    remedy: 'Check win-1.',
  });
});

test('a step that waits for something says in its remedies and its timeout what that is', async () => {
  const { run, clock, journal } = bench();
  const busy = new AppError('HOST_BUSY', 'stage since noon', { remedy: 'End it.' });
  const waiting = step('a', {
    usualMs: 100,
    run: (_, { note }) => (note('waits', busy), new Promise(() => undefined)),
  });
  const ended = rejectionOf(runSteps([waiting], [], run));
  await clock.advance(200);
  expect(journal.activity?.remedy).toBe('End it.');
  await clock.advance(800);
  expect(await ended).toMatchObject({
    code: 'STEP_TIMEOUT',
    message: 'step "a" did not finish within 1 s, because of HOST_BUSY: stage since noon',
    remedy: 'End it.',
  });
});

test('a step that waits no more has its own remedy again', async () => {
  const { run, clock } = bench();
  const busy = new AppError('HOST_BUSY', 'stage since noon', { remedy: 'End it.' });
  const waiting = step('a', {
    run: (_, { note }) => (note('waits', busy), note(undefined), new Promise(() => undefined)),
  });
  const ended = rejectionOf(runSteps([waiting], [], run));
  await clock.advance(1000);
  expect(await ended).toMatchObject({ message: 'step "a" did not finish within 1 s', remedy: 'Check it.' });
});

test('gives a remedy after twice the usual time, and only while the step runs', async () => {
  const { run, clock, journal } = bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = step('a', { usualMs: 300, limitMs: 5000, run: () => promise, remedy: deps => `Check ${deps[0]}.` });
  const ended = runSteps([slow, step('b', { usualMs: 1 })], ['win-1'], run);
  await settle();
  await clock.advance(599);
  expect(journal.activity).toMatchObject({ limitSeconds: 5 });
  expect(journal.activity?.remedy).toBeUndefined();
  await clock.advance(1);
  expect(journal.activity?.remedy).toBe('Check win-1.');
  resolve();
  await ended;
  await clock.advance(5000);
  expect(journal.activity).toBeUndefined();
});

test('the time in a queue is not time of the step', async () => {
  const { run, clock, journal } = bench();
  const [turn, work] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const queued = step('a', {
    usualMs: 300,
    limitMs: 50_000,
    run: async (_, { queued: inQueue }) => {
      await inQueue(() => turn.promise);
      await work.promise;
    },
  });
  const ended = runSteps([queued], [], run);
  await settle();
  await clock.advance(10_000);
  expect(journal.activity?.remedy).toBeUndefined();
  turn.resolve();
  await settle();
  expect(journal.activity?.since).toBe(new Date(clock.now()).toISOString());
  await clock.advance(599);
  expect(journal.activity?.remedy).toBeUndefined();
  await clock.advance(1);
  expect(journal.activity?.remedy).toBe('Check it.');
  work.resolve();
  await ended;
});

test('a remedy that throws does not end the operator', async () => {
  const { run, clock, logged } = bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  const remedy = () => {
    throw new TypeError('bug');
  };
  const ended = runSteps([step('a', { usualMs: 300, limitMs: 5000, run: () => promise, remedy })], [], run);
  await settle();
  await clock.advance(1000);
  resolve();
  await ended;
  expect(logged.lines.map(({ message }) => message)).toContain('Remedy of a slow step failed');
});

test('an abort is not reported as a failure', async () => {
  const { run, stop, journal } = bench();
  const reason = new Error('leadership lost');
  const waiting = step('a', {
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('x')))),
  });
  const ended = runSteps([waiting, step('b')], [], run);
  await settle();
  stop.abort(reason);
  await expect(ended).rejects.toBe(reason);
  expect(journal.timeline()[0]).not.toHaveProperty('lastError');
});

test('runs no step after the journey is aborted', async () => {
  const { run, stop } = bench();
  stop.abort(new Error('over'));
  const did: SetUpOptions = [];
  await expect(runSteps([step('a')], did, run)).rejects.toThrow('over');
  expect(did).toEqual([]);
});

test('passes notes and progress to the record', async () => {
  const { run, journal } = bench();
  const seen: unknown[] = [];
  const telling = step('a', {
    run: async (_, { note, report }) => {
      note('waiting');
      report({ bytes: 1, totalBytes: 3 });
      seen.push(journal.activity?.waitsFor, journal.progress);
    },
  });
  await runSteps([telling], [], run);
  expect(seen).toEqual(['waiting', { bytes: 1, totalBytes: 3, started: expect.any(String) }]);
});

const own = new AppError('USAGE', 'own', { remedy: 'r' });
const thrown: [string, unknown, string, string][] = [
  ['an error of ours as it is', own, 'USAGE', 'own'],
  ['a refusal of the server', new ApiError({ code: 403, message: 'no' }, 'PATCH /x'), 'API_REFUSED', 'PATCH /x: no'],
  ['a mistake', new TypeError('x is undefined'), 'INTERNAL_ERROR', 'x is undefined'],
  ['whatever else', 'text', 'INTERNAL_ERROR', 'thrown: "text"'],
];
for (const [name, what, code, message] of thrown) {
  test(`reports ${name} with a code and what helps`, () => {
    const error = asAppError(what);
    expect([error.code, error.message]).toEqual([code, message]);
    expect(error.remedy).not.toBe('');
  });
}
test('returns an AppError unchanged', () => expect(asAppError(own)).toBe(own));
