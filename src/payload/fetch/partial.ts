import { type FileHandle, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { attempt } from '#base/errors.ts';
import { Fields, jsonIn } from '#base/fields.ts';

/** A download as far as it has come; it outlives the process. */
export interface Partial {
  bytes: number;
  /** Where it comes from. */
  url: string;
  /** Strong ETag or Last-Modified: the server tells by it whether its file is still the same. */
  validator: string;
}

const factsOf = (path: string) => `${path}.json`;

/** What an earlier attempt has left; undefined when there is nothing that fits to the URL. */
export async function readPartial(path: string, url: string): Promise<Partial | undefined> {
  const facts = await stat(path).catch(() => undefined);
  const text = await readFile(factsOf(path), 'utf8').catch(() => '');
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), factsOf(path));
    return { url: fields.string('url') ?? '', validator: fields.string('validator') ?? '' };
  });
  if (facts?.isFile() !== true || facts.size === 0 || !read.ok || read.value.url !== url) return undefined;
  return { bytes: facts.size, ...read.value };
}

/** An empty file; what was there is gone before its new description is written. */
export async function startPartial(path: string, { url, validator }: Omit<Partial, 'bytes'>): Promise<FileHandle> {
  await deletePartial(path);
  const file = await open(path, 'wx', 0o600);
  await writeFile(factsOf(path), JSON.stringify({ url, validator }), { mode: 0o600 });
  return file;
}

export async function deletePartial(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(factsOf(path), { force: true });
}

/** The file is complete and stays. */
export async function endPartial(path: string): Promise<void> {
  await rm(factsOf(path), { force: true });
}
