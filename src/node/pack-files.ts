import { type BundleFile, packContent } from './bundle.ts';
import type { FileUse, NodeFile } from './desired/files.ts';

/** A packed file, with how a change of it takes effect. */
export interface PackedFile extends BundleFile {
  use: FileUse;
}

export function packFiles(files: readonly NodeFile[]): Promise<PackedFile[]> {
  return Promise.all(
    files.map(async ({ path, content, sensitive, use }) => ({
      path,
      use,
      secret: sensitive,
      ...(await packContent(new TextEncoder().encode(content.reveal()))),
    })),
  );
}
