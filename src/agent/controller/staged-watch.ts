import type { Clock } from '#base/clock.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import type { HostFiles } from '../ports.ts';
import { lastStagedFile } from '../stage/change-notes.ts';

/** One call of Windows each. */
const everyMs = 2000;

/** Calls `onChange` soon after `stage` has placed files, which no watch of the cluster shows. */
export function watchStaged(files: Pick<HostFiles, 'stat'>, clock: Clock, onChange: () => void): Runnable {
  const look = async () => (await files.stat(lastStagedFile).catch(() => undefined))?.modifiedMs;
  return {
    name: 'staged files',
    run: async (signal, ready) => {
      ready();
      let seen = await look();
      while (!signal.aborted) {
        await clock.sleep(everyMs, signal).catch(() => undefined);
        const now = await look();
        if (!signal.aborted && now !== seen) onChange();
        seen = now;
      }
    },
  };
}
