import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, LineCounter, parseAllDocuments, type YAMLParseError } from 'yaml';
import { byteOrder } from '#base/compare.ts';
import { AppError, attempt } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { hasCollectionKeys } from '#base/yaml-keys.ts';
import { type KubeObject, readObjectOf } from '#contract/object.ts';
import { at } from './place.ts';
import { readText, tooMuch, unreadable } from './read-text.ts';
import type { Terminal } from './terminal.ts';

/** Objects found in the input, and what could not be read. A bad document never hides the good ones beside it. */
export interface Input {
  objects: KubeObject[];
  problems: AppError[];
}

const maxDepthOfLists = 4;

/** Reads multi-document YAML or JSON from files, folders (all .yaml, .yml and .json below) or `-`. */
export async function readInput(names: readonly string[], terminal: Terminal, maxFiles = 10_000): Promise<Input> {
  const input: Input = { objects: [], problems: [] };
  for (const name of names) {
    if (name === '-') await addText(input, 'standard input', terminal.stdin);
    else for (const path of await filesOf(name, input, maxFiles)) await addText(input, path, () => readText(path));
  }
  return input;
}

async function filesOf(name: string, input: Input, maxFiles: number): Promise<string[]> {
  const isFolder = (await stat(name).catch(() => undefined))?.isDirectory() === true;
  const files = isFolder ? await filesBelow(name, input) : [name];
  if (files.length <= maxFiles) return files;
  input.problems.push(tooMuch(name, `more than ${maxFiles} files; the others were not read`));
  return files.slice(0, maxFiles);
}

/** Folders are entered one by one, so that one without permission hides nothing but itself. */
async function filesBelow(folder: string, input: Input): Promise<string[]> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    input.problems.push(unreadable(folder, error));
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

async function addText(input: Input, source: string, read: () => Promise<string>): Promise<void> {
  let text: string;
  try {
    text = await read();
  } catch (error) {
    input.problems.push(error instanceof AppError ? error : unreadable(source, error));
    return;
  }
  const added = attempt(() => addDocuments(input, text, source));
  if (!added.ok) input.problems.push(added.error);
}

function addDocuments(input: Input, text: string, source: string): void {
  const lines = new LineCounter();
  const documents = parsed(text, source, lines);
  (Array.isArray(documents) ? documents : []).forEach((document, index) => {
    const place = `${source}, document ${index + 1}`;
    const [error] = document.errors;
    // The parser's message may quote the text, which may be a secret: its code and the place are told.
    if (error !== undefined) input.problems.push(malformed(place, syntaxError(error, lines)));
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

function parsed(text: string, source: string, lineCounter: LineCounter): ReturnType<typeof parseAllDocuments> {
  try {
    // kubectl knows merge keys as well.
    return parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent', merge: true, lineCounter });
  } catch {
    throw malformed(source, 'it is nested too deeply or too large');
  }
}

function toPlain(document: Document, place: string): unknown {
  if (hasCollectionKeys(document)) throw malformed(place, 'has a list or a map as the key of a map');
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw malformed(place, 'has aliases that cannot be resolved or grow too large');
  }
}

interface Place {
  /** The file, which messages about the object name too. */
  source: string;
  place: string;
  /** How many lists within lists are still taken apart. */
  depth: number;
}

function addValue(input: Input, value: unknown, { source, place, depth }: Place): void {
  if (value === null || value === undefined) return;
  if (isRecord(value) && Array.isArray(value['items']) && depth > 0) {
    value['items'].forEach((item, index) =>
      addValue(input, item, { source, place: `${place}, item ${index + 1}`, depth: depth - 1 }),
    );
    return;
  }
  const object = attempt(() => readObjectOf(source, value));
  if (object.ok) input.objects.push(object.value);
  else input.problems.push(at(place, object.error));
}

function malformed(place: string, what: string): AppError {
  return new AppError('INPUT_MALFORMED', `${place}: not valid YAML or JSON: ${what}`, {
    remedy: 'Mend the document; `kubectl get … -o yaml` writes the form that is read here.',
  });
}
