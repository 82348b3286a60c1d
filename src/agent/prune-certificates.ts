import { byteOrder } from '#base/compare.ts';
import { messageOf } from '#base/errors.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles } from './ports.ts';

const dated = /^ovnkube-client-\d{4}-\d{2}-\d{2}-\d{2}-\d{2}-\d{2}\.pem$/i;
const pointers = ['ovnkube-client-current.pem', 'ovnkube-client-updated.pem'];
const kept = 2;

/**
 * Deletes old client certificates of the hybrid overlay, which creates one every day and never deletes any. Certificates in
 * use are kept. Returns what failed.
 */
export async function pruneOvnkubeCertificates(files: HostFiles): Promise<string[]> {
  const warnings: string[] = [];
  try {
    const names = (await files.list(dir.cniConfig)).filter(name => dated.test(name)).toSorted(byteOrder);
    const old = names.toReversed().slice(kept);
    if (old.length === 0) return [];
    // The pointers are links or copies, so the content tells which certificate is in use.
    const inUse = await Promise.all(pointers.map(name => files.sha256(pathOf(name))));
    for (const name of old) await deleteUnlessUsed(pathOf(name), inUse, files).catch(note(name));
  } catch (error) {
    note(dir.cniConfig)(error);
  }
  return warnings;

  function note(what: string): (error: unknown) => void {
    return error => {
      const why = messageOf(error);
      warnings.push(`old certificates of the hybrid overlay: ${what}: ${why}`);
    };
  }
}

async function deleteUnlessUsed(path: string, inUse: readonly (string | undefined)[], files: HostFiles): Promise<void> {
  if (!inUse.includes(await files.sha256(path))) await files.remove(path);
}

function pathOf(name: string): string {
  return `${dir.cniConfig}\\${name}`;
}
