import { sha256 } from '../../src/base/sha256.ts';
import { stage } from '../../src/agent/stage/stage.ts';
import type { NextSet } from '../../src/contract/bundle.ts';
import { type BundleFile, packBundle, packContent } from '../../src/node/bundle.ts';
import type { ModelHost } from './model-host.ts';

export interface BundleOptions {
  version?: string;
  remove?: readonly string[];
  /** Paths of files for SYSTEM and Administrators only. */
  secrets?: readonly string[];
  /** The bundle is for a set that is only kept. */
  next?: NextSet;
  /** SHA-256 of the agent program that stages it. */
  agent?: string;
  /** Whether services of the operator are installed. */
  hasServices?: boolean;
}

export const bundlePath = 'C:\\Temp\\bundle';

/** A bundle of texts by path, as the operator makes it. */
export async function bundleOf(texts: Readonly<Record<string, string>>, options: BundleOptions = {}): Promise<Buffer> {
  const files = Object.entries(texts).map(async ([path, text]): Promise<BundleFile> => {
    const secret = options.secrets?.includes(path) ?? false;
    return { path, secret, ...(await packContent(Buffer.from(text))) };
  });
  const { version = 'v1', remove = [], next } = options;
  const chunks = packBundle({ version, files: await Promise.all(files), remove, ...(next && { next }) });
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
  const { agent = '', hasServices = false } = options;
  const upload = { bundle: bundlePath, sha256: sha256(bundle), agent, hasServices };
  return stage(upload, host.files, new AbortController().signal);
}
