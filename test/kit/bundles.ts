import { sha256 } from '../../src/base/sha256.ts';
import { stage } from '../../src/agent/stage/stage.ts';
import { type BundleFile, packBundle, packContent } from '../../src/node/bundle.ts';
import type { ModelHost } from './model-host.ts';

export interface BundleOptions {
  version?: string;
  remove?: readonly string[];
  /** Paths of files for SYSTEM and Administrators only. */
  secrets?: readonly string[];
}

export const bundlePath = 'C:\\Temp\\bundle';

/** A bundle of texts by path, as the operator makes it. */
export async function bundleOf(texts: Readonly<Record<string, string>>, options: BundleOptions = {}): Promise<Buffer> {
  const files = Object.entries(texts).map(async ([path, text]): Promise<BundleFile> => {
    const secret = options.secrets?.includes(path) ?? false;
    return { path, secret, ...(await packContent(Buffer.from(text))) };
  });
  const chunks = packBundle(options.version ?? 'v1', await Promise.all(files), options.remove);
  return Buffer.concat(await Array.fromAsync(chunks));
}

/** Uploads a bundle to the host and has it staged. */
export async function stageTexts(
  host: ModelHost,
  texts: Readonly<Record<string, string>>,
  options: BundleOptions = {},
): Promise<Awaited<ReturnType<typeof stage>>> {
  const bundle = await bundleOf(texts, options);
  host.fileTexts.set(bundlePath, bundle);
  return stage(bundlePath, sha256(bundle), host.files, new AbortController().signal);
}
