import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, LineCounter, parseAllDocuments, type YAMLParseError } from 'yaml';
import { byteOrder } from '#base/compare.ts';
import { AppError, attempt } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { hasCollectionKeys } from '#base/yaml-keys.ts';
import { type KubeObject, readObjectOf } from '#contract/object.ts';
import { compareWithFirst, type FirstOfName } from './duplicates.ts';
import { prefixError } from './error-prefix.ts';
import { readText, tooLargeError, unreadableError } from './read-text.ts';
import type { Terminal } from './terminal.ts';

/** Objects of the input, and errors of the documents that cannot be read. */
export interface Input {
  objects: KubeObject[];
  problems: AppError[];
}

/** An Input that is being filled. */
interface Reading extends Input {
  firstOfName: FirstOfName;
}

const maxDepthOfLists = 4;

/** Reads multi-document YAML or JSON from files, folders (all .yaml, .yml and .json below) or `-`. */
export async function readInput(
  names: readonly string[],
  terminal: Pick<Terminal, 'stdin'>,
  maxFiles = 10_000,
): Promise<Input> {
  const input: Reading = { objects: [], problems: [], firstOfName: new Map() };
  for (const name of names) {
    if (name === '-') await addText(input, 'standard input', terminal.stdin);
    else for (const path of await filesOf(name, input, maxFiles)) await addText(input, path, () => readText(path));
  }
  return { objects: input.objects, problems: input.problems };
}

async function filesOf(name: string, input: Input, maxFiles: number): Promise<string[]> {
  const isFolder = (await stat(name).catch(() => undefined))?.isDirectory() === true;
  const files = isFolder ? await filesBelow(name, input) : [name];
  if (files.length <= maxFiles) return files;
  input.problems.push(tooLargeError(name, `more than ${maxFiles} files; the others were not read`));
  return files.slice(0, maxFiles);
}

/** Not a recursive readdir: one folder without permission must not hide the others. */
async function filesBelow(folder: string, input: Input): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    input.problems.push(unreadableError(folder, error));
    return [];
  }
  const files: string[] = [];
  for (const entry of entries.sort((one, other) => byteOrder(one.name, other.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesBelow(path, input)));
    else if (/\.(ya?ml|json)$/.test(entry.name)) files.push(path);
  }
  return files;
}

async function addText(input: Reading, source: string, read: () => Promise<string>): Promise<void> {
  let text: string;
  try {
    text = await read();
  } catch (error) {
    input.problems.push(error instanceof AppError ? error : unreadableError(source, error));
    return;
  }
  const added = attempt(() => addDocuments(input, text, source));
  if (!added.ok) input.problems.push(added.error);
}

function addDocuments(input: Reading, text: string, source: string): void {
  const lines = new LineCounter();
  const documents = parseYaml(text, source, lines);
  (Array.isArray(documents) ? documents : []).forEach((document, index) => {
    const place = `${source}, document ${index + 1}`;
    const [error] = document.errors;
    // The parser's message may quote a secret; its code and position do not.
    if (error !== undefined) input.problems.push(malformedError(place, syntaxError(error, lines)));
    else {
      const value = attempt(() => toPlain(document, place));
      if (value.ok) addValue(input, value.value, { source, place, depth: maxDepthOfLists });
      else input.problems.push(value.error);
    }
  });
}

function syntaxError({ code, pos }: YAMLParseError, lines: LineCounter): string {
  const { line, col } = lines.linePos(pos[0]);
  return `${code} at line ${line}, column ${col}`;
}

function parseYaml(text: string, source: string, lineCounter: LineCounter): ReturnType<typeof parseAllDocuments> {
  try {
    // kubectl supports merge keys, too.
    return parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent', merge: true, lineCounter });
  } catch {
    throw malformedError(source, 'it is too large or nested too deeply');
  }
}

function toPlain(document: Document, place: string): unknown {
  if (hasCollectionKeys(document)) throw malformedError(place, 'has a list or a map as the key of a map');
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw malformedError(place, 'has aliases that cannot be resolved or grow too large');
  }
}

interface Place {
  /** The file. */
  source: string;
  /** File, document and item. */
  place: string;
  /** How many nested lists are still unpacked. */
  depth: number;
}

function addValue(input: Reading, value: unknown, { source, place, depth }: Place): void {
  if (value === null || value === undefined) return;
  if (isRecord(value) && Array.isArray(value['items']) && depth > 0) {
    value['items'].forEach((item, index) =>
      addValue(input, item, { source, place: `${place}, item ${index + 1}`, depth: depth - 1 }),
    );
    return;
  }
  const object = attempt(() => readObjectOf(source, value));
  if (!object.ok) {
    input.problems.push(prefixError(place, object.error));
    return;
  }
  const result = compareWithFirst(input.firstOfName, object.value, { value, place });
  if (result === 'new') input.objects.push(object.value);
  else if (result !== 'same') input.problems.push(result);
}

function malformedError(place: string, what: string): AppError {
  return new AppError('INPUT_MALFORMED', `${place}: not valid YAML or JSON: ${what}`, {
    remedy: 'Fix the document; `kubectl get … -o yaml` prints valid ones.',
  });
}
