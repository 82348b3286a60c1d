import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import { untilNode } from './node-watch.ts';

function bench() {
  const listeners = new Set<() => void>();
  const nodes = {
    follow: (_name: string, listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { nodes, listeners, change: () => listeners.forEach(listener => listener()) };
}
const never = new AbortController().signal;

test('gives at once what is there already', async () => {
  const { nodes, listeners } = bench();
  expect(await untilNode(nodes, 'win-1', () => 'there', never)).toBe('there');
  expect(listeners.size).toBe(0);
});

test('checks again after each change, and not in between', async () => {
  const { nodes, listeners, change } = bench();
  let looks = 0;
  const waiting = untilNode(nodes, 'win-1', () => (++looks > 2 ? looks : undefined), never);
  await settle();
  expect(looks).toBe(1);
  change();
  change();
  expect(await waiting).toBe(3);
  expect(listeners.size).toBe(0);
});

test('ends with the reason of the abort', async () => {
  const { nodes, listeners } = bench();
  const stop = new AbortController();
  const waiting = untilNode(nodes, 'win-1', () => undefined, stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(listeners.size).toBe(0);
  await expect(untilNode(nodes, 'win-1', () => 1, stop.signal)).rejects.toThrow('enough');
});

test('ends with what goes wrong while looking, first or later', async () => {
  const { nodes, change } = bench();
  const fail = (): never => {
    throw new Error('broken');
  };
  await expect(untilNode(nodes, 'win-1', fail, never)).rejects.toThrow('broken');
  let looks = 0;
  const waiting = untilNode(nodes, 'win-1', () => (++looks > 1 ? fail() : undefined), never);
  change();
  await expect(waiting).rejects.toThrow('broken');
});
