import { messageOf } from '#base/errors.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from './ports.ts';
import { readSets } from './stage/record.ts';

export interface PrunedPrograms {
  pruned: number;
  /** Why some were not removed, one sentence for each. */
  left: string[];
}

/** Removes agent programs that belong to no set; one that runs is kept, too. */
export async function removeOldPrograms(running: string, files: HostFiles): Promise<PrunedPrograms> {
  const { current, next, previous } = await readSets(files);
  const kept = new Set([running, current.agent, next?.agent, previous?.agent]);
  const left: string[] = [];
  let pruned = 0;
  for (const name of await files.list(dir.agentPrograms)) {
    if (!/^[0-9a-f]{64}$/i.test(name) || kept.has(name.toLowerCase())) continue;
    try {
      await files.removeDirectory(`${dir.agentPrograms}\\${name}`);
      pruned += 1;
    } catch (error) {
      left.push(`${dir.agentPrograms}\\${name}: not removed (${messageOf(error)})`);
    }
  }
  return { pruned, left };
}
