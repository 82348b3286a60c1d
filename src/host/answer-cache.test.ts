import { expect, test } from 'vitest';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { AnswerCache } from './answer-cache.ts';

function cacheBench(maxAnswers?: number) {
  const clock = manualClock();
  const asked: string[] = [];
  const cache = new AnswerCache<number>({
    clock,
    validMs: answer => answer * 100,
    failureMs: 50,
    ...(maxAnswers !== undefined && { maxAnswers }),
  });
  const ask = (question: string, answer: number | Error = 1) =>
    cache.get(question, async () => {
      asked.push(question);
      if (answer instanceof Error) throw answer;
      return answer;
    });
  return { clock, asked, ask };
}

test('AnswerCache keeps an answer while it is valid', async () => {
  const { clock, asked, ask } = cacheBench();
  expect(await ask('long', 2)).toBe(2);
  await ask('short', 1);
  await clock.advance(100);
  expect(await ask('long', 7)).toBe(2);
  expect(await ask('short', 7)).toBe(7);
  expect(asked).toEqual(['long', 'short', 'short']);
});

test('AnswerCache keeps a failure for a while', async () => {
  const { clock, asked, ask } = cacheBench();
  await expect(ask('x', new Error('first'))).rejects.toThrow('first');
  await clock.advance(49);
  await expect(ask('x')).rejects.toThrow('first');
  await clock.advance(1);
  expect(await ask('x', 3)).toBe(3);
  expect(asked).toEqual(['x', 'x']);
});

test('AnswerCache shares a pending answer', async () => {
  const { asked, ask } = cacheBench();
  expect(await Promise.all([ask('x', 1), ask('x', 2), ask('y', 3)])).toEqual([1, 1, 3]);
  expect(asked).toEqual(['x', 'y']);
});

test('AnswerCache drops the oldest answer beyond its limit', async () => {
  const { asked, ask } = cacheBench(2);
  for (const question of ['a', 'b', 'c', 'b', 'a']) await ask(question);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
