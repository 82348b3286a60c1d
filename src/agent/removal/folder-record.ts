import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import { pathKey } from '#contract/host-path.ts';
import { file, folderRecordFile } from '#contract/paths.ts';
import type { HostFiles } from '../ports.ts';
import { stateFile } from '../state.ts';
import { ownFolders } from './own-files.ts';

/** Files of an earlier configuration, also by the Go operator: who created the folders is unknown then. */
const traces = [file.agent, file.stagedRecord, stateFile];

/** Called before the first folder is created; an existing record stays. */
export async function recordFolders(files: HostFiles): Promise<void> {
  if ((await files.read(folderRecordFile)) !== undefined) return;
  for (const path of traces) if ((await files.stat(path)) !== undefined) return;
  const existing: string[] = [];
  for (const path of ownFolders) if ((await files.inspect(path)) !== undefined) existing.push(path);
  await files.write(folderRecordFile, `${JSON.stringify({ existing }, undefined, 2)}\n`, 'secret');
}

/** Keys of the folders that existed before the join; undefined for a host that an earlier operator has configured. */
export async function foldersBefore(files: HostFiles): Promise<ReadonlySet<string> | undefined> {
  const text = await files.read(folderRecordFile);
  const read = attempt(() => new Fields(jsonIn(text ?? ''), folderRecordFile).strings('existing'));
  return text !== undefined && read.ok ? new Set(read.value.map(pathKey)) : undefined;
}
