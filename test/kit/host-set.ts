import { readSets } from '../../src/agent/stage/record.ts';
import { agentProgram, file } from '../../src/contract/paths.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { readStamp, stampBytes } from '../../src/sandbox/machines/programs/stamp.ts';

/** The versions of a simulated host by its disk, and every file that does not belong to its set. */
export interface HostSet {
  runs: string;
  keeps: string | undefined;
  /** Version of the agent's program in place. */
  agent: string | undefined;
  wrong: string[];
}

export async function setOf({ files }: SimulatedHost): Promise<HostSet> {
  const { current, previous } = await readSets(files);
  const wrong: string[] = [];
  const check = async (path: string, sha256: string) => {
    if ((await files.sha256(path)) !== sha256) wrong.push(path);
  };
  for (const { path, sha256 } of current.files) await check(path, sha256);
  await check(file.agent, current.agent);
  if (previous !== undefined) await check(agentProgram(previous.agent), previous.agent);
  const content = files.content(file.agent);
  const stamp = content && readStamp(await files.readAt(content, 0, stampBytes));
  return { runs: current.version, keeps: previous?.version, agent: stamp?.version, wrong };
}
