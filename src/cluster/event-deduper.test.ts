import { expect, test } from 'vitest';
import type { EventText } from '#contract/events.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { EventDeduper } from './event-deduper.ts';

const event = (message: string): EventText => ({ type: 'Warning', reason: 'Trouble', message });
const object = { kind: 'ConfigMap', name: 'windows-instances' };

function bench(maxSubjects?: number) {
  const clock = manualClock();
  const said: string[] = [];
  const recorder = { record: (_: unknown, { message }: { message: string }) => void said.push(message) };
  const remarks = new EventDeduper({ recorder, clock, ...(maxSubjects !== undefined && { maxSubjects }) });
  const hold = (subject: string, ...messages: string[]) => remarks.report(subject, [object], messages.map(event));
  return { clock, said, hold };
}

test('records an event once, however often it is found', () => {
  const { said, hold } = bench();
  for (let pass = 0; pass < 5; pass += 1) hold('a', 'bad name');
  expect(said).toEqual(['bad name']);
});

test('reports what is new beside what holds already', () => {
  const { said, hold } = bench();
  hold('a', 'one');
  hold('a', 'one', 'two');
  hold('a', 'two', 'one');
  expect(said).toEqual(['one', 'two']);
});

test('reports it again when it had been over', () => {
  const { said, hold } = bench();
  hold('a', 'one');
  hold('a');
  hold('a', 'one');
  hold('a', 'two');
  hold('a', 'one');
  expect(said).toEqual(['one', 'one', 'two', 'one']);
});

test('reports the same of each subject', () => {
  const { said, hold } = bench();
  hold('a', 'one');
  hold('b', 'one');
  hold('a', 'one');
  expect(said).toEqual(['one', 'one']);
});

test('reports what still holds again before the server has forgotten it', async () => {
  const { clock, said, hold } = bench();
  hold('a', 'one');
  await clock.advance(54 * 60_000);
  hold('a', 'one');
  expect(said).toHaveLength(1);
  await clock.advance(60_000);
  hold('a', 'one');
  hold('a', 'one');
  expect(said).toHaveLength(2);
});

test('reports the reason from the message', () => {
  const clock = manualClock();
  const said: string[] = [];
  const remarks = new EventDeduper({ recorder: { record: (_, { reason }) => void said.push(reason) }, clock });
  for (const reason of ['A', 'B', 'B']) remarks.report('x', [object], [{ type: 'Normal', reason, message: 'same' }]);
  expect(said).toEqual(['A', 'B']);
});

test('remembers only so many subjects', () => {
  const { said, hold } = bench(2);
  for (const subject of ['a', 'b', 'c', 'c', 'a']) hold(subject, subject);
  expect(said).toEqual(['a', 'b', 'c', 'a']);
});

test('returns true when it recorded an event', () => {
  const { hold } = bench();
  expect([hold('a'), hold('a', 'one'), hold('a', 'one'), hold('a', 'one', 'two'), hold('a', 'two')]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ]);
  expect([hold('b', 'two'), hold('a'), hold('a', 'two')]).toEqual([true, false, true]);
});
