import { constants } from 'node:fs';
import { appendFile, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buildAgent } from '../../../tools/build-agent/build-agent.ts';
import { repositoryRoot } from '../run-wmco.ts';
import type { Programs } from './operator-bundle.ts';
import { printMark, type ProgramMark } from './program-mark.ts';
import { makePayload } from './real-payload.ts';

/** A version of the operator with the programs of its image. */
export interface Release {
  version: string;
  /** Its folder. */
  payload: string;
  /** SHA-256 of every program, by its name. */
  hashes: Readonly<Record<string, string>>;
}

/** How a new release behaves; all of them change the agent, kubelet.exe and containerd.exe, and nothing else. */
export type Behavior = 'works' | 'kubelet fails' | 'kubelet fails later' | 'agent fails';

export interface NewRelease {
  version: string;
  behavior: Behavior;
  /** For a kubelet that fails later: how long after its first start. */
  failsAfterMs?: number;
}

const threeMinutesMs = 180_000;
const entries = { good: 'src/bin/agent.ts', bad: 'test/windows/programs/bad-agent.ts' } as const;

/** Makes the payload of a release in its own folder, from the programs of another. Agents are cached by their sources. */
export async function makeRelease(folder: string, programs: Programs, wanted: NewRelease): Promise<Release> {
  const { version, behavior } = wanted;
  await mkdir(folder, { recursive: true });
  const marked = (program: string, name: string, mark: ProgramMark) => markedCopy(program, join(folder, name), mark);
  const kubelet = await marked(programs.kubelet, 'marked-kubelet.exe', kubeletMark(wanted));
  const containerd = await marked(programs.service, 'marked-containerd.exe', { release: version });
  const agent = await buildRelease(version, behavior === 'agent fails' ? 'bad' : 'good');
  const payload = join(folder, 'payload');
  return { version, payload, hashes: await makePayload(payload, { ...programs, kubelet, containerd, agent }) };
}

/** The agent of a version; its hash differs from that of any other version. */
async function buildRelease(version: string, which: keyof typeof entries): Promise<string> {
  return (await buildAgent({ entry: join(repositoryRoot, entries[which]), version })).path;
}

function kubeletMark({ version: release, behavior, failsAfterMs = threeMinutesMs }: NewRelease): ProgramMark {
  if (behavior === 'kubelet fails') return { release, failsAfterMs: 0 };
  return behavior === 'kubelet fails later' ? { release, failsAfterMs } : { release };
}

async function markedCopy(program: string, target: string, mark: ProgramMark): Promise<string> {
  await copyFile(program, target, constants.COPYFILE_FICLONE);
  await appendFile(target, printMark(mark));
  return target;
}

/** Programs of one release that the other does not have, by their hashes; the agent is one of them. */
export function changedPrograms(from: Release, to: Release): Map<string, string> {
  const kept = new Set(Object.values(to.hashes));
  return new Map(Object.entries(from.hashes).flatMap(([name, hash]) => (kept.has(hash) ? [] : [[hash, name]])));
}
