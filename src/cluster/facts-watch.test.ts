import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { fixedFacts } from '../../test/kit/fixed-facts.ts';
import { watchingFacts } from './facts-watch.ts';

const key = { namespace: 'ns', name: 'only' };

function watched() {
  const facts = fixedFacts();
  const fed: string[] = [];
  const watch = watchingFacts(facts, key);
  return { facts, fed, watch, start: () => watch.start(({ name }, how) => void fed.push(`${name} ${how}`), silentLog) };
}

test('calls for its key at the beginning, and after each change', () => {
  const { facts, fed, start } = watched();
  start();
  facts.become({ platform: 'AWS' });
  facts.become(undefined);
  expect(fed).toEqual(['only always', 'only always', 'only always']);
});

test('calls for nothing after its end', () => {
  const { facts, fed, start } = watched();
  start()();
  facts.become({});
  expect(fed).toHaveLength(1);
  expect(facts.listeners()).toBe(0);
});

test('finds its key again, and need not be waited for', async () => {
  const { watch } = watched();
  expect([...watch.relist(silentLog)]).toEqual([key]);
  await watch.synced;
});
