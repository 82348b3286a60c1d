import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, errorLabel } from '#base/errors.ts';
import { jsonText, oneLine, paragraph, printable, type SafeText, safe, yamlText } from './safe-text.ts';
import { reasonOf } from './system-error.ts';
import type { Terminal } from './terminal.ts';

export type OutputForm = { is: 'text' } | { is: 'json' } | { is: 'yaml' } | { is: 'dir'; path: string };

export function parseOutputForm(text: string): OutputForm {
  if (text === 'text' || text === 'json' || text === 'yaml') return { is: text };
  if (text.startsWith('dir=') && text.length > 4) return { is: 'dir', path: text.slice(4) };
  throw new AppError('USAGE', `-o ${text} is not an output form`, { remedy: 'Use -o text, json, yaml or dir=PATH.' });
}

/** One result in all the forms a user can ask for. */
export interface Shown {
  text: string;
  /** The same as plain data, for json and yaml. */
  data: unknown;
  /** The same as files, by path, for dir=PATH; without them the data is written as one file. */
  files?: Record<string, string>;
}

/** `name` is what the result is of, such as `services`. */
export async function show(name: string, shown: Shown, form: OutputForm, terminal: Terminal): Promise<void> {
  const { text, data, files = { [`${name}.yaml`]: yamlText(data) } } = shown;
  if (form.is === 'dir') await writeFiles(files, form.path, terminal);
  else if (form.is === 'json') terminal.out(jsonText(data));
  else terminal.out(form.is === 'yaml' ? yamlText(data) : printable(endLine(text)));
}

async function writeFiles(files: Record<string, string>, folder: string, terminal: Terminal): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, ...safeParts(name));
    try {
      await makeFolder(dirname(path));
      // An old file could be readable by others, or be a link to somewhere else.
      await rm(path, { force: true });
      await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw unwritable(path, error);
    }
    terminal.out(safe`${oneLine(path)}\n`);
  }
}

/** Not with `recursive`: below /proc that never comes to an end. */
async function makeFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path);
}

export function unwritable(where: string, error: unknown): AppError {
  return new AppError('OUTPUT_UNWRITABLE', `${where}: cannot be written (${reasonOf(error)})`, {
    remedy: 'Send the output to a place that you may write to and that has room.',
    cause: error,
  });
}

/** `C:\k\kubelet.conf` becomes `C/k/kubelet.conf`; nothing can climb out of the folder. */
function safeParts(name: string): string[] {
  return name
    .replace(/^([A-Za-z]):/, '$1')
    .split(/[\\/]/)
    .filter(part => part !== '' && part !== '.' && part !== '..');
}

/** Columns padded to the widest cell; the last column is left as it is. No cell can look like more than one line. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map(row => row.map((cell, index) => (index === 0 ? indented(cell) : oneLine(cell))));
  const columns = Math.max(0, ...rows.map(row => row.length));
  const widths = Array.from({ length: columns }, (_, index) => Math.max(...rows.map(row => row[index]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ');
  return rows.map(row => line(row).trimEnd()).join('\n');
}

/** The blanks with which a line begins stay. */
function indented(cell: string): string {
  const text = cell.trimStart();
  return `${' '.repeat(cell.length - text.length)}${oneLine(text)}`;
}

/** An error as a tired person can read it: what, and what to do now. */
export function errorText(error: AppError): SafeText {
  return safe`${oneLine(errorLabel(error))}: ${paragraph(error.message, '  ')}\n  -> ${paragraph(error.remedy, '     ')}`;
}

export function errorData(error: AppError): { code: string; message: string; remedy: string } {
  return { code: error.code, message: error.message, remedy: error.remedy };
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
