import { AppError, attempt, shown } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { parentOf, pathKey } from '#contract/host-path.ts';
import { agentProgramHash, dir, file } from '#contract/paths.ts';
import { whyWritable } from './access/plan.ts';
import { secureFolders, unsafe } from './access/secure-folders.ts';
import type { HostFiles, HostPorts } from './ports.ts';
import { removeOldPrograms } from './programs.ts';
import { foldersBefore, recordFolders } from './removal/folder-record.ts';
import type { HashOf } from './stage/hash-cache.ts';
import { readRecord, writeRecord } from './stage/record.ts';
import { changeState, readState } from './state.ts';

export interface SecureOutcome {
  /** The program was copied to the path of the service. */
  placed: boolean;
  /** Number of removed folders of older programs. */
  pruned: number;
  /** One sentence for each entry that was fixed. */
  events: string[];
}

/**
 * Runs first on a host, from a folder that only administrators can write to: secures that folder, then the folders of the
 * agent, and only then copies the program to the path of the service.
 */
export async function secureHost(
  program: string,
  hashOf: HashOf,
  { files, system }: Pick<HostPorts, 'files' | 'system'>,
  signal: AbortSignal,
): Promise<SecureOutcome> {
  const { sha256, events: above } = await secureProgram(program, hashOf, files);
  await recordFolders(files);
  const { events: below, kept } = await secureFolders(files, signal);
  await rejectOpenFolders(kept, await system.bootId(), files);
  await recordNoVariables(files);
  const events = [...above, ...below];
  const placed = await placeAgent(program, sha256, hashOf, files);
  const { pruned, left } = await removeOldPrograms(sha256, files);
  return { placed, pruned, events: [...events, ...left] };
}

/** Rejects unless the program has the hash of its folder, and makes both safe. */
export async function secureProgram(
  program: string,
  hashOf: HashOf,
  files: HostFiles,
): Promise<{ sha256: string; events: string[] }> {
  const sha256 = await checkProgram(program, hashOf);
  return { sha256, events: await secureProgramFolders(program, files) };
}

/** In a folder that no user can write to. */
export const openFoldersFile = `${dir.agentPrograms}\\open-folders.json`;

/**
 * A user who keeps a folder open can change it until the next boot, even after its rights were fixed. This is recorded,
 * because the fixed rights do not show it.
 */
async function rejectOpenFolders(kept: readonly string[], bootId: string, files: HostFiles): Promise<void> {
  const [first] = kept;
  if (first !== undefined) await files.write(openFoldersFile, JSON.stringify({ bootId, path: first }), 'secret');
  const known = await readOpenFolder(files);
  if (known === undefined) return;
  if (known.bootId !== bootId) return files.remove(openFoldersFile);
  throw new AppError('HOST_FOLDER_UNSAFE', `${known.path} was created by a user and was open during this boot`, {
    remedy: 'Reboot the host: programs that opened the folder earlier can change it until then.',
  });
}

async function readOpenFolder(files: HostFiles): Promise<{ bootId: string; path: string } | undefined> {
  const text = await files.read(openFoldersFile);
  if (text === undefined) return undefined;
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), openFoldersFile);
    return { bootId: fields.requiredString('bootId'), path: fields.requiredString('path') };
  });
  return read.ok ? read.value : undefined;
}

async function checkProgram(program: string, hashOf: HashOf): Promise<string> {
  const named = agentProgramHash(program);
  if (named === undefined) {
    throw new AppError(
      'USAGE',
      `this command runs only from a folder below ${dir.agentPrograms}, not from ${shown(program)}`,
      {
        remedy: 'Wait for the operator to configure the host: it uploads the program there and runs it.',
      },
    );
  }
  const actual = await hashOf(program);
  if (actual === named) return named;
  throw new AppError(
    'AGENT_PROGRAM_DAMAGED',
    `${program} ${actual === undefined ? 'does not exist' : `has the hash ${actual}`}`,
    {
      remedy: 'Delete the folder; the operator uploads the program again.',
    },
  );
}

/** Only administrators can write to the parent folder, so an entry with another owner was created by one of them. */
async function secureProgramFolders(program: string, files: HostFiles): Promise<string[]> {
  const windows = parentOf(dir.agentPrograms);
  const top = await files.inspect(windows);
  const problem = top && whyWritable(top);
  if (problem !== undefined) throw unsafe(windows, problem);
  const events: string[] = [];
  for (const path of [dir.agentPrograms, parentOf(program), program]) {
    const entry = await files.inspect(path);
    if (entry?.is === 'link') throw unsafe(path, 'is a link');
    const why = entry && whyWritable(entry);
    if (why === undefined) continue;
    await files.protect(path, 'programs');
    events.push(`${path}: ${why}; set owner and rights`);
  }
  return events;
}

/**
 * On a new host the agent owns no variable. Without a record, the values of the administrator would count as set by the Go
 * operator. The agent is placed later, so that an interrupted run is repeated.
 */
async function recordNoVariables(files: HostFiles): Promise<void> {
  if ((await foldersBefore(files)) === undefined || (await files.stat(file.agent)) !== undefined) return;
  if ((await readState(files)).environment === undefined) await changeState(files, { environment: [] });
}

async function placeAgent(program: string, sha256: string, hashOf: HashOf, files: HostFiles): Promise<boolean> {
  await recordProgram(sha256, files);
  if ((await hashOf(file.agent)) === sha256) return false;
  await files.writeChunks(file.agent, files.readChunks(program));
  return true;
}

/**
 * The program belongs to the current set from now on. Bundles of earlier operators contained the agent; it must not be
 * restored from there.
 */
async function recordProgram(agent: string, files: HostFiles): Promise<void> {
  const record = await readRecord(files);
  const kept = record.files.filter(({ path }) => pathKey(path) !== pathKey(file.agent));
  const isSame = kept.length === record.files.length && record.agent === agent;
  if (record.version !== '' && !isSame) await writeRecord({ ...record, agent, files: kept }, files);
}
