import { AppError, shown } from '#base/errors.ts';
import { pathKey } from '#contract/host-path.ts';
import { agentProgramHash, dir, file } from '#contract/paths.ts';
import { whyWritable } from './access/plan.ts';
import { secureFolders } from './access/secure-folders.ts';
import type { HostFiles } from './ports.ts';
import type { HashOf } from './stage/hash-cache.ts';
import { readRecord, writeRecord } from './stage/record.ts';

export interface SecureOutcome {
  /** The program was copied to where services run it. */
  placed: boolean;
  /** Folders of former programs that were removed. */
  pruned: number;
  /** What was found that should not have been there, and what became of it. */
  remarks: string[];
}

/**
 * The first thing that runs on a host, from a folder to which only administrators write: makes sure of that folder, takes our
 * own folders into possession, and only then puts the program where services run it.
 */
export async function secureHost(
  program: string,
  hashOf: HashOf,
  files: HostFiles,
  signal: AbortSignal,
): Promise<SecureOutcome> {
  const sha256 = await checkProgram(program, hashOf);
  const remarks = [...(await secureProgramFolders(program, files)), ...(await secureFolders(files, signal))];
  const placed = await placeAgent(program, sha256, hashOf, files);
  const { pruned, left } = await pruneFormer(sha256, files);
  return { placed, pruned, remarks: [...remarks, ...left] };
}

async function checkProgram(program: string, hashOf: HashOf): Promise<string> {
  const named = agentProgramHash(program);
  if (named === undefined) {
    throw new AppError(
      'USAGE',
      `secure runs only from a folder below ${dir.agentPrograms}, not from ${shown(program)}`,
      {
        remedy: 'Let the operator configure the host: it uploads the program there and runs it.',
      },
    );
  }
  const actual = await hashOf(program);
  if (actual === named) return named;
  throw new AppError('AGENT_PROGRAM_DAMAGED', `${program} has the hash ${actual ?? 'of no file'}`, {
    remedy: 'Delete the folder; the operator uploads the program again.',
  });
}

/** Below a folder that only administrators may write, whatever has another owner was made by one of them. */
async function secureProgramFolders(program: string, files: HostFiles): Promise<string[]> {
  const windows = parentOf(dir.agentPrograms);
  const problem = await problemOf(windows, files);
  if (problem !== undefined) throw unsafe(windows, problem);
  const remarks: string[] = [];
  for (const path of [dir.agentPrograms, parentOf(program), program]) {
    const entry = await files.inspect(path);
    if (entry?.is === 'link') throw unsafe(path, 'is a link');
    const why = entry && whyWritable(entry);
    if (why === undefined) continue;
    await files.protect(path, 'programs');
    remarks.push(`${path}: ${why}; set owner and rights`);
  }
  return remarks;
}

async function problemOf(directory: string, files: HostFiles): Promise<string | undefined> {
  const entry = await files.inspect(directory);
  return entry && whyWritable(entry);
}

/** A former program that runs there is moved aside. */
async function placeAgent(program: string, sha256: string, hashOf: HashOf, files: HostFiles): Promise<boolean> {
  await forgetStaged(files);
  if ((await hashOf(file.agent)) === sha256) return false;
  await files.writeChunks(file.agent, files.readChunks(program));
  return true;
}

/** Bundles of earlier operators had the agent in them; nobody is to bring that one back. */
async function forgetStaged(files: HostFiles): Promise<void> {
  const record = await readRecord(files);
  const kept = record.files.filter(({ path }) => pathKey(path) !== pathKey(file.agent));
  if (kept.length < record.files.length) await writeRecord({ ...record, files: kept }, files);
}

async function pruneFormer(sha256: string, files: HostFiles): Promise<{ pruned: number; left: string[] }> {
  const former = (await files.list(dir.agentPrograms)).filter(name => /^[0-9a-f]{64}$/i.test(name));
  const left: string[] = [];
  let pruned = 0;
  for (const name of former) {
    if (name.toLowerCase() === sha256) continue;
    try {
      await files.removeDirectory(`${dir.agentPrograms}\\${name}`);
      pruned += 1;
    } catch (error) {
      left.push(
        `${dir.agentPrograms}\\${name}: not removed (${error instanceof Error ? error.message : String(error)})`,
      );
    }
  }
  return { pruned, left };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('\\'));
}

function unsafe(path: string, why: string): AppError {
  return new AppError('HOST_FOLDER_UNSAFE', `${path} ${why}`, {
    remedy: `Let only administrators write there: see icacls.exe ${path}, and find out who changed it.`,
  });
}
