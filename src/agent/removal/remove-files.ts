import { AppError, attempt } from '#base/errors.ts';
import { checkPlaces, parentOf, pathKey } from '#contract/host-path.ts';
import { agentProgram, agentProgramHash, dir, file, folderRecordFile, orderedRebootFile } from '#contract/paths.ts';
import { lockFiles } from '../lock/host-lock.ts';
import type { HostFiles } from '../ports.ts';
import { openFoldersFile } from '../secure.ts';
import { readSets, type StagedFile } from '../stage/record.ts';
import { readState, stateFile } from '../state.ts';
import { checkCleanedUp, type CleanedUpPorts } from './cleaned-up.ts';
import { foldersBefore } from './folder-record.ts';
import {
  earlierScripts,
  isBelow,
  leftoverName,
  ownFiles,
  ownFolders,
  ownPatterns,
  ownTrees,
  registryFile,
} from './own-files.ts';
import { Remover } from './remover.ts';

export interface FileRemoval {
  /** Number of removed files and folders. */
  removed: number;
  /** What could not be removed, each with its reason. */
  left: string[];
  /** What the program uses while it runs or when it is repeated: the operator removes it afterwards, in this order. */
  last: string[];
}

export interface RemovalPorts extends CleanedUpPorts {
  files: HostFiles;
}

/**
 * Removes what operator, agent and services created, and nothing else. It can be interrupted and repeated anywhere: records
 * are removed after everything that they list.
 */
export async function removeFiles(program: string, ports: RemovalPorts, signal: AbortSignal): Promise<FileRemoval> {
  const { files } = ports;
  await checkCleanedUp(ports);
  const { defenderExclusions } = await readState(files);
  const remover = new Remover(files, signal);
  const { left } = remover;
  const before = await foldersBefore(files);
  await removeOwnFiles(program, remover);
  if (before === undefined) for (const path of earlierScripts) await remover.file(path);
  await removeStaged(remover, files);
  left.push(...defenderExclusions.map(({ path }) => `${path}: its Defender exclusion was not removed`));
  if (defenderExclusions.length === 0) await remover.file(stateFile);
  await removeFolders(before, remover);
  await removePrograms(program, remover);
  return { removed: remover.removed, left, last: await usedByProgram(program, remover) };
}

async function removeOwnFiles(program: string, remover: Remover): Promise<void> {
  for (const path of ownFiles) {
    if (pathKey(path) === pathKey(program)) remover.left.push(`${path}: is the program that runs this command`);
    else await remover.file(path);
  }
  for (const { directory, name } of ownPatterns) await removeMatches(directory, name, remover);
  for (const directory of ownFolders) await removeLeftovers(directory, remover);
  for (const name of await remover.names(dir.registries)) await removeRegistry(`${dir.registries}\\${name}`, remover);
  for (const path of ownTrees) await remover.content(path);
}

/** The records are kept while one of their files is. */
async function removeStaged(remover: Remover, files: HostFiles): Promise<void> {
  const before = remover.left.length;
  const { current, next, previous } = await readSets(files);
  for (const entry of current.files) await removeStagedFile(entry, remover);
  // A swap that was cancelled has left files of these; another file of that name belongs to a user.
  for (const entry of [...(next?.files ?? []), ...(previous?.files ?? [])]) await removeKeptFile(entry, remover);
  if (remover.left.length > before) return;
  for (const path of [file.nextSet, file.previousSet, file.stagedRecord]) await remover.file(path);
}

async function removeKeptFile({ path, sha256 }: StagedFile, remover: Remover): Promise<void> {
  if (attempt(() => checkPlaces([path], invalidPlace)).ok) await remover.unchangedFile(path, sha256);
}

/** Outside of C:\k a file with other content belongs to a user by now. */
async function removeStagedFile({ path, sha256 }: StagedFile, remover: Remover): Promise<void> {
  if (!attempt(() => checkPlaces([path], invalidPlace)).ok) return;
  await (isBelow(path, dir.k) ? remover.file(path) : remover.unchangedFile(path, sha256));
}

function invalidPlace(what: string): AppError {
  return new AppError('FIELD_INVALID', what, { remedy: 'Remove the file by hand.' });
}

async function removeMatches(directory: string, name: RegExp, remover: Remover): Promise<void> {
  for (const found of await remover.names(directory))
    if (name.test(found)) await remover.file(`${directory}\\${found}`);
}

/** A secret is written in a folder of its own. Logs are written by other means. */
async function removeLeftovers(directory: string, remover: Remover): Promise<void> {
  if (directory === dir.log || isBelow(directory, dir.log)) return;
  for (const name of await remover.names(directory))
    if (leftoverName.test(name)) await remover.tree(`${directory}\\${name}`);
}

async function removeRegistry(directory: string, remover: Remover): Promise<void> {
  const names = await remover.names(directory);
  if (names.some(name => pathKey(name) === registryFile)) await remover.file(`${directory}\\${registryFile}`);
  await removeLeftovers(directory, remover);
  await remover.emptyFolder(directory);
}

/** Folders that existed before the join stay, also when they are empty. */
async function removeFolders(before: ReadonlySet<string> | undefined, remover: Remover): Promise<void> {
  for (const path of ownFolders) if (before?.has(pathKey(path)) !== true) await remover.emptyFolder(path);
}

const programFolder = /^[0-9a-f]{64}$/i;

/** Programs of other versions. Files in the quarantine folder belong to users and stay. */
async function removePrograms(program: string, remover: Remover): Promise<void> {
  for (const name of await remover.names(dir.agentPrograms)) {
    if (programFolder.test(name) && name.toLowerCase() !== agentProgramHash(program))
      await remover.tree(`${dir.agentPrograms}\\${name}`);
  }
}

/**
 * Windows deletes neither a running program nor the native code that it has loaded, nor the lock that it holds. Without the record of folders, another
 * run would remove empty folders of users.
 */
async function usedByProgram(program: string, remover: Remover): Promise<string[]> {
  const native = (await remover.names(dir.agentNative)).map(name => `${dir.agentNative}\\${name}`);
  const hash = agentProgramHash(program);
  const own = hash === undefined ? [] : [agentProgram(hash), parentOf(agentProgram(hash))];
  const records = [...lockFiles, openFoldersFile, orderedRebootFile, folderRecordFile];
  return [...native, dir.agentNative, ...own, ...records, dir.agentPrograms];
}
