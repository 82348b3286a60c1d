import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { watchingSignal } from './signal-watch.ts';

test('feeds all keys at each change until it is ended', async () => {
  const listeners = new Set<() => void>();
  const keys = [{ namespace: 'x', name: 'a' }];
  const watch = watchingSignal(
    listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => keys,
  );
  const fed: string[] = [];
  await watch.synced;
  const end = watch.start((key, how) => void fed.push(`${key.name} ${how}`), silentLog);
  expect(fed).toEqual([]);
  for (const listener of listeners) listener();
  keys.push({ namespace: 'x', name: 'b' });
  for (const listener of listeners) listener();
  expect(fed).toEqual(['a', 'a', 'b'].map(name => `${name} if there is room`));
  end();
  expect(listeners.size).toBe(0);
  expect([...watch.relist(silentLog)]).toEqual([]);
});
