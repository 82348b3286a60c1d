import type { HostFiles } from '../ports.ts';
import { unpacked } from './content.ts';
import { copyPath, type StagedFile } from './record.ts';

/** Puts a file in place from its packed copy, as a whole or not at all. */
export async function placeFile(entry: StagedFile, files: HostFiles): Promise<void> {
  const content = unpacked(files.readChunks(copyPath(entry)), entry);
  await files.writeChunks(entry.path, content, entry.secret ? 'secret' : undefined);
}
