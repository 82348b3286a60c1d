import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Document, parseAllDocuments } from 'yaml';
import { AppError, attempt } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { hasCollectionKeys } from '#base/yaml-keys.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import type { Terminal } from './terminal.ts';

/** Objects found in the input, and what could not be read. A bad document never hides the good ones beside it. */
export interface Input {
  objects: KubeObject[];
  problems: AppError[];
}

const maxFiles = 10_000;
const maxDepthOfLists = 4;

/** Reads multi-document YAML or JSON from files, folders (all .yaml, .yml and .json below) or `-`. */
export async function readInput(names: readonly string[], terminal: Terminal): Promise<Input> {
  const input: Input = { objects: [], problems: [] };
  for (const name of names) {
    if (name === '-') addDocuments(input, await terminal.stdin(), 'standard input');
    else for (const path of await filesBelow(name, input)) await addFile(input, path);
  }
  return input;
}

async function filesBelow(name: string, input: Input): Promise<string[]> {
  try {
    if (!(await stat(name)).isDirectory()) return [name];
    const entries = await readdir(name, { recursive: true });
    return entries
      .filter(entry => /\.(ya?ml|json)$/.test(entry))
      .sort()
      .slice(0, maxFiles)
      .map(entry => join(name, entry));
  } catch (error) {
    input.problems.push(unreadable(name, error));
    return [];
  }
}

async function addFile(input: Input, path: string): Promise<void> {
  try {
    addDocuments(input, await readFile(path, 'utf8'), path);
  } catch (error) {
    input.problems.push(unreadable(path, error));
  }
}

function unreadable(name: string, error: unknown): AppError {
  const why = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return new AppError('INPUT_UNREADABLE', `${name}: cannot be read (${why})`, {
    remedy: 'Give the path of a readable file or folder, or - for standard input.',
    cause: error,
  });
}

function addDocuments(input: Input, text: string, source: string): void {
  const documents = parseAllDocuments(text, { prettyErrors: false, logLevel: 'silent' });
  (Array.isArray(documents) ? documents : []).forEach((document, index) => {
    const place = `${source}, document ${index + 1}`;
    const [error] = document.errors;
    // The parser's message may quote the text, which may be a secret: its code and the place are told.
    if (error !== undefined) input.problems.push(malformed(place, `${error.code} at character ${error.pos[0]}`));
    else {
      const value = attempt(() => toPlain(document, place));
      if (value.ok) addValue(input, value.value, place, maxDepthOfLists);
      else input.problems.push(value.error);
    }
  });
}

function toPlain(document: Document, place: string): unknown {
  if (hasCollectionKeys(document)) throw malformed(place, 'has a list or a map as the key of a map');
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw malformed(place, 'has aliases that cannot be resolved or grow too large');
  }
}

function addValue(input: Input, value: unknown, place: string, depth: number): void {
  if (value === null || value === undefined) return;
  if (isRecord(value) && Array.isArray(value['items']) && depth > 0) {
    value['items'].forEach((item, index) => addValue(input, item, `${place}, item ${index + 1}`, depth - 1));
    return;
  }
  const object = attempt(() => readObject(value));
  if (object.ok) input.objects.push(object.value);
  else
    input.problems.push(
      new AppError(object.error.code, `${place}: ${object.error.message}`, { remedy: object.error.remedy }),
    );
}

function malformed(place: string, what: string): AppError {
  return new AppError('INPUT_MALFORMED', `${place}: not valid YAML or JSON: ${what}`, {
    remedy: 'Mend the document; `kubectl get … -o yaml` writes the form that is read here.',
  });
}
