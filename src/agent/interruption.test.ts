import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { interruptionOf } from './interruption.ts';

function processOf() {
  const events = new EventEmitter();
  const exits: number[] = [];
  const on = (name: string, listener: () => void) => events.on(name, listener);
  return { signal: interruptionOf({ on, exit: code => void exits.push(code) }), events, exits };
}

test('does not abort without a signal', () => {
  const { signal, exits } = processOf();
  expect([signal.aborted, exits]).toEqual([false, []]);
});

test.each(['SIGINT', 'SIGBREAK'])('ends in good order at the first %s', name => {
  const { signal, events, exits } = processOf();
  events.emit(name);
  expect([signal.aborted, signal.reason, exits]).toEqual([true, new Error(`interrupted by ${name}`), []]);
});

test.each([
  ['SIGINT', 'SIGINT'],
  ['SIGINT', 'SIGBREAK'],
  ['SIGBREAK', 'SIGBREAK'],
])('ends at once when %s is followed by %s', (first, second) => {
  const { signal, events, exits } = processOf();
  events.emit(first);
  events.emit(second);
  expect([signal.reason, exits]).toEqual([new Error(`interrupted by ${first}`), [1]]);
});
