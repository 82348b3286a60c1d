import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { type CorrelatorLimits, EventCorrelator, type NewEvent } from './event-correlator.ts';

const minute = 60_000;
const event = (message: string, more: Partial<NewEvent> = {}): NewEvent => ({
  object: { apiVersion: 'v1', kind: 'Node', name: 'win-1', uid: 'u1' },
  type: 'Normal',
  reason: 'Setup',
  message,
  ...more,
});

function bench(limits: Partial<CorrelatorLimits> = {}) {
  const clock = manualClock();
  const correlator = new EventCorrelator(clock, limits);
  const say = (message: string, more?: Partial<NewEvent>) => correlator.correlate(event(message, more));
  return { clock, say };
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);
const isCombined = (text: string | undefined) => text?.startsWith('(combined from similar events): ') ?? false;

test('equal events are one event', () => {
  const { say } = bench();
  expect(say('a')?.identity).toBe(say('a')?.identity);
  expect(say('a')).toMatchObject(event('a'));
});

const different: [string, Partial<NewEvent>][] = [
  ['another message', { message: 'b' }],
  ['another reason', { reason: 'Teardown' }],
  ['another type', { type: 'Warning' }],
  ['another name', { object: { ...event('').object, name: 'win-2' } }],
  ['another uid', { object: { ...event('').object, uid: 'u2' } }],
  ['another kind', { object: { ...event('').object, kind: 'Machine' } }],
  ['another namespace', { object: { ...event('').object, namespace: 'ns' } }],
  ['another version of the kind', { object: { ...event('').object, apiVersion: 'v2' } }],
  ['another part of the object', { object: { ...event('').object, fieldPath: 'spec.x' } }],
];
for (const [name, more] of different) {
  test(`${name} is another event`, () => {
    const { say } = bench();
    expect(say('a', more)?.identity).not.toBe(say('a')?.identity);
  });
}

test('a new version of the object is the same object', () => {
  const { say } = bench();
  const object = { ...event('').object, resourceVersion: '9' };
  expect(say('a', { object })?.identity).toBe(say('a')?.identity);
});

test('from the tenth different message of one reason on they are combined into one event', () => {
  const { say } = bench();
  const said = messages(15).map(message => say(message));
  expect(said.map(each => isCombined(each?.message))).toEqual([...Array(9).fill(false), ...Array(6).fill(true)]);
  expect(new Set(said.map(each => each?.identity)).size).toBe(10);
  expect(said[9]?.message).toBe('(combined from similar events): m9');
});

test('a message from before goes on to be counted for itself', () => {
  const { say } = bench();
  messages(12).forEach(message => say(message));
  expect(say('m0')?.message).toBe('m0');
});

test('another reason, or another object, is not combined with them', () => {
  const { say } = bench();
  messages(12).forEach(message => say(message));
  expect(say('x', { reason: 'Other' })?.message).toBe('x');
  expect(say('x', { object: { kind: 'Node', name: 'win-2' } })?.message).toBe('x');
});

test('ten quiet minutes end the combining', async () => {
  const { clock, say } = bench();
  messages(12).forEach(message => say(message));
  await clock.advance(10 * minute);
  expect(isCombined(say('x')?.message)).toBe(true);
  await clock.advance(10 * minute + 1);
  expect(isCombined(say('y')?.message)).toBe(false);
});

test('25 events about one object at once, then one every five minutes', async () => {
  const { clock, say } = bench();
  const allowed = (count: number) =>
    Array.from({ length: count }, () => say('a')).filter(each => each !== undefined).length;
  expect(allowed(40)).toBe(25);
  await clock.advance(5 * minute - 1);
  expect(allowed(1)).toBe(0);
  await clock.advance(1);
  expect(allowed(3)).toBe(1);
  await clock.advance(10 * minute);
  expect(allowed(9)).toBe(2);
});

test('the reserve does not grow beyond 25', async () => {
  const { clock, say } = bench();
  say('a');
  await clock.advance(24 * 60 * minute);
  expect(messages(50).filter(() => say('a') !== undefined).length).toBe(25);
});

test('the rate limit is per object', () => {
  const { say } = bench();
  messages(40).forEach(() => say('a'));
  expect(say('a')).toBeUndefined();
  expect(say('a', { object: { kind: 'Node', name: 'win-2' } })).toBeDefined();
});

test('the wall clock does not matter', () => {
  const { clock, say } = bench();
  messages(40).forEach(() => say('a'));
  clock.jump(86_400_000);
  expect(say('a')).toBeUndefined();
});

test('forgets what was used longest ago, so that memory has a bound', () => {
  const { say } = bench({ burst: 1, maxRemembered: 2 });
  const of = (name: string) => say('a', { object: { name } }) !== undefined;
  expect([of('x'), of('y'), of('x'), of('z'), of('x'), of('y')]).toEqual([true, true, false, true, false, true]);
});

test('never exceeds the limits per object', async () => {
  const step = fc.record({ name: fc.constantFrom('x', 'y'), message: fc.nat(20), ms: fc.nat(2 * minute) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async steps => {
      const { clock, say } = bench({ burst: 5, refillMs: minute });
      const counts = new Map<string, number>();
      for (const { name, message, ms } of steps) {
        await clock.advance(ms);
        const said = say(`m${message}`, { object: { name } });
        if (said !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      for (const count of counts.values()) expect(count).toBeLessThanOrEqual(5 + clock.monotonicMs() / minute);
    }),
    { numRuns: 50 },
  );
});
