import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { errorText } from '../../src/cli/output.ts';
import { payloadProgram } from '../../src/cli/payload/program.ts';
import { payloadFiles } from '../../src/node/payload.ts';
import type { Run } from './run-wmco.ts';

/** Runs `wmco payload` inside this process, with its output caught. */
export async function runPayload(
  words: readonly string[],
  {
    environment = {},
    signal = new AbortController().signal,
    clock = systemClock,
  }: { environment?: Record<string, string>; signal?: AbortSignal; clock?: Clock } = {},
): Promise<Run> {
  const run: Run = { code: -1, out: '', err: '' };
  const terminal = {
    out: (text: string) => void (run.out += text),
    err: (text: string) => void (run.err += text),
    version: () => '11.0.0',
    size: () => undefined,
    environment,
    command: () => 'wmco',
    signal,
    clock,
  };
  try {
    run.code = await payloadProgram(words, terminal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    run.err += `${errorText(error)}\n`;
    run.code = 1;
  }
  return run;
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-payload-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Each a few blocks long. */
export const programContent = (path: string) => Buffer.from(`MZ ${path} `.repeat(200));

/** Files of every program that is not optional, and a lock with their sums. */
export async function fetchedPayload(): Promise<{ root: string; folder: string; lock: string; paths: string[] }> {
  const root = await temporaryFolder();
  const [folder, lock] = [join(root, 'files'), join(root, 'payload.lock.yaml')];
  const paths = payloadFiles.filter(({ isOptional }) => isOptional !== true).map(({ source }) => source);
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), programContent(path));
  }
  const sources = paths.map((path, index) => ({
    name: `program-${index}`,
    version: `v1.${index}`,
    license: 'Apache-2.0',
    file: `https://example.com/${path}`,
    files: [{ path, sha256: sha256(programContent(path)) }],
  }));
  await writeFile(lock, stringify({ kubernetes: 'v1.36', sources }));
  return { root, folder, lock, paths };
}

/** Changes one bit in the middle of a file. */
export async function flipBit(path: string): Promise<void> {
  const content = await readFile(path);
  content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
  await writeFile(path, content);
}
