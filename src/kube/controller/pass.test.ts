import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { type ManualClock, manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { AppError } from '#base/errors.ts';
import { runPass } from './pass.ts';
import { after, done, type Outcome, TerminalError } from './reconcile.ts';

const limitsOf = (clock: ManualClock) => ({
  clock,
  passTimeoutMs: 1000,
  overdueGraceMs: 100,
  key: { namespace: 'x', name: 'a' },
});

function run(reconcile: () => Promise<Outcome>) {
  const clock = manualClock();
  const abort = new AbortController();
  return { clock, abort, ...runPass(reconcile, abort, limitsOf(clock)) };
}

const throwing = (thrown: unknown) => async () => {
  throw thrown;
};
const returning = (value: unknown) => async () => value as Outcome;

const outcomes: [string, () => Promise<Outcome>, object][] = [
  ['done', returning(done), { is: 'done' }],
  ['a wait', returning(after(500, 'not yet')), { is: 'waiting', afterMs: 500, why: 'not yet' }],
  ['a wait of no time', returning(after(0, 'again')), { is: 'waiting', afterMs: 0 }],
];
for (const [name, reconcile, want] of outcomes) {
  test(`ends with ${name}`, async () => expect(await run(reconcile).ended).toMatchObject(want));
}

const failures: [string, () => Promise<Outcome>, string, boolean][] = [
  ['an error', throwing(new Error('boom')), 'boom', false],
  ['an AppError', throwing(new AppError('USAGE', 'wrong', { remedy: 'x' })), 'wrong', false],
  ['a terminal error', throwing(new TerminalError('never')), 'never', false],
  ['a TypeError', throwing(new TypeError('x is undefined')), 'x is undefined', true],
  ['a RangeError', throwing(new RangeError('too deep')), 'too deep', true],
  ['a text', throwing('boom'), 'the pass threw "boom"', true],
  ['nothing', throwing(undefined), 'the pass threw missing', true],
  ['null', throwing(null), 'the pass threw null', true],
  ['an object that cannot be printed', throwing(Object.create(null)), 'the pass threw {}', true],
  ['a symbol', throwing(Symbol('s')), 'the pass threw Symbol(s)', true],
  [
    'an error before its first await',
    () => {
      throw new Error('at once');
    },
    'at once',
    false,
  ],
  ['no outcome', returning(undefined), 'the pass returned missing, which is not an outcome', true],
  ['null as outcome', returning(null), 'the pass returned null', true],
  ['a strange outcome', returning({ requeue: true }), 'the pass returned {"requeue":true}', true],
  ['done: false', returning({ done: false }), 'the pass returned', true],
  ['a wait that is no number', returning({ after: Number.NaN, why: '' }), 'the pass returned', true],
  ['a wait without end', returning({ after: Number.POSITIVE_INFINITY, why: '' }), 'the pass returned', true],
  ['a wait into the past', returning({ after: -1, why: '' }), 'the pass returned', true],
  ['a wait in words', returning({ after: '5s', why: '' }), 'the pass returned', true],
];
for (const [name, reconcile, message, isBug] of failures) {
  test(`${name} is a failure${isBug ? ' and a bug' : ''}`, async () => {
    const end = await run(reconcile).ended;
    expect(end).toMatchObject({ is: 'failed', isBug });
    expect(end.is === 'failed' && end.error).toBeInstanceOf(Error);
    expect(end.is === 'failed' && end.error.message).toContain(message);
  });
}

test('keeps the error that was thrown, with its cause', async () => {
  const error = new TerminalError('never', { cause: new Error('why') });
  expect(await run(throwing(error)).ended).toMatchObject({ error });
  expect(inspect(error)).toContain('why');
});

test('measures how long a pass took, and leaves no timer', async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const { clock, ended } = run(() => promise);
  await clock.advance(700);
  resolve(done);
  expect(await ended).toEqual({ is: 'done', ms: 700 });
  expect(clock.sleepers()).toBe(0);
});

test('reports a pass at its deadline, with an error that names key and time', async () => {
  const { clock, abort } = run(() => new Promise(() => undefined));
  await clock.advance(999);
  expect(abort.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(abort.signal.reason).toMatchObject({ code: 'PASS_TIMEOUT', message: expect.stringMatching(/x\/a.*1 s/) });
  expect(abort.signal.reason.remedy).not.toBe('');
});

test('a pass that respects its deadline is not overdue', async () => {
  const clock = manualClock();
  const abort = new AbortController();
  const { ended, overdue } = runPass(() => clock.sleep(5000, abort.signal).then(() => done), abort, limitsOf(clock));
  let isOverdue = false;
  void overdue.then(() => (isOverdue = true));
  await clock.advance(10_000);
  expect(await ended).toMatchObject({ is: 'failed', error: { code: 'PASS_TIMEOUT' }, isBug: false });
  expect([isOverdue, clock.sleepers()]).toEqual([false, 0]);
});

test('a pass that ends well although its deadline has passed has ended well', async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const { clock, ended } = run(() => promise);
  await clock.advance(1050);
  resolve(done);
  expect(await ended).toMatchObject({ is: 'done', ms: 1050 });
});

test('a pass that ignores its deadline is overdue after the grace time', async () => {
  const { clock, overdue } = run(() => new Promise(() => undefined));
  let isOverdue: unknown = 'not yet';
  void overdue.then(value => (isOverdue = value));
  await clock.advance(1099);
  expect(isOverdue).toBe('not yet');
  await clock.advance(1);
  await settle();
  expect([isOverdue, clock.sleepers()]).toEqual([true, 0]);
});
