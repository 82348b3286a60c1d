import { expect, test } from 'vitest';
import { WorkQueue } from '#kube/queue/queue.ts';
import { longestRetryMs, retryTimes } from './retry.ts';

const cases: [attempt: number, ms: number][] = [
  [1, 5000],
  [2, 10_000],
  [3, 20_000],
  [6, 160_000],
  [7, 300_000],
  [5000, 300_000],
  [0, 5000],
];
for (const [attempt, ms] of cases) {
  test(`attempt ${attempt + 1} comes within ${ms / 1000} s`, () => expect(longestRetryMs(attempt)).toBe(ms));
}

test('is what the queue does when it takes its time', () => {
  const queue = new WorkQueue({ ...retryTimes, name: 'test', random: () => 0 });
  const key = { namespace: 'ns', name: 'win-1' };
  for (let attempt = 1; attempt < 10; attempt += 1) expect(queue.retry(key)).toBe(longestRetryMs(attempt));
  void queue.shutDown();
});
