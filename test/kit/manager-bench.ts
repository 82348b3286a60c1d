import { type Leadership, type ManagerOptions, type Runnable, runManager } from '#kube/controller/manager.ts';
import { manualClock } from './manual-clock.ts';
import { recordedLog } from './recorded-log.ts';

/** A runnable under the test's control, with a log of what happens to it. */
export function part(name: string, story: string[], how: { isReadyAtOnce?: boolean; stopsAtOnce?: boolean } = {}) {
  const { isReadyAtOnce = true, stopsAtOnce = true } = how;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let ready: () => void = () => undefined;
  const runnable: Runnable = {
    name,
    run: (signal, given) => {
      story.push(`${name} starts`);
      ready = () => {
        story.push(`${name} is ready`);
        given();
      };
      signal.addEventListener('abort', () => {
        story.push(`${name} is told`);
        if (stopsAtOnce) resolve();
      });
      if (isReadyAtOnce) ready();
      return promise.then(() => void story.push(`${name} ends`));
    },
  };
  return { runnable, ready: () => ready(), end: resolve, fail: reject };
}

export function leadershipIn(story: string[], how: 'at once' | 'never' = 'at once') {
  let lose: (why: Error) => void = () => undefined;
  const leadership: Leadership = {
    acquire: async (onLost, signal) => {
      story.push('lease wanted');
      lose = onLost;
      if (how === 'never') {
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      story.push('lease held');
    },
    release: async how => void story.push(`lease: ${how}`),
  };
  return { leadership, lose: (why: Error) => lose(why) };
}

export function managerBench(options: ManagerOptions) {
  const clock = manualClock();
  const { log, lines, messages } = recordedLog();
  const stop = new AbortController();
  const over = runManager({ clock, log, ...options }, stop.signal);
  over.catch(() => undefined);
  return { clock, lines, messages, stop, over };
}
