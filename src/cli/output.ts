import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { AppError, errorLabel } from '#base/errors.ts';
import { jsonText, oneLine, paragraph, printable, type SafeText, safe, yamlText } from './safe-text.ts';
import { systemErrorReason } from './system-error.ts';
import type { Terminal } from './terminal.ts';

export type OutputForm = { is: 'text' } | { is: 'json' } | { is: 'yaml' } | { is: 'dir'; path: string };

/** Allowed values of -o; a path follows `dir=`. */
export const outputForms = ['text', 'json', 'yaml', 'dir='] as const;

/** The word is one of `outputForms`. */
export function parseOutputForm(word: string): OutputForm {
  if (word.startsWith('dir=')) return { is: 'dir', path: word.slice(4) };
  return { is: word === 'json' || word === 'yaml' ? word : 'text' };
}

/** The result of a command in every output format. */
export interface CommandOutput {
  text: string;
  /** For -o json and yaml. */
  data: unknown;
  /** Content by path, for -o dir=PATH. Defaults to one file with the data. */
  files?: Record<string, string>;
}

/**
 * Returns what was printed, or the content of the files that were written. `name` is the base name of the file for
 * -o dir=PATH, such as `services`.
 */
export async function printOutput(
  name: string,
  output: CommandOutput,
  form: OutputForm,
  terminal: Terminal,
): Promise<string> {
  if (form.is === 'dir') {
    const files = output.files ?? { [`${name}.yaml`]: yamlText(output.data) };
    await writeFiles(files, form.path, terminal);
    return Object.values(files).join('\n');
  }
  const text = textOf(output, form.is);
  // The text of a command with files is their content.
  terminal.out(text, form.is === 'text' && output.files === undefined ? 'message' : 'data');
  return text;
}

function textOf({ text, data }: CommandOutput, form: 'text' | 'json' | 'yaml'): SafeText {
  if (form === 'text') return printable(endLine(text));
  return form === 'json' ? jsonText(data) : yamlText(data);
}

async function writeFiles(files: Record<string, string>, folder: string, terminal: Terminal): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, ...safeParts(name));
    try {
      await createFolder(dirname(path));
      // An existing file could be readable by others, or be a link to another place.
      await rm(path, { force: true });
      await writeFile(path, content, { mode: 0o600, flag: 'wx' });
    } catch (error) {
      throw unwritableError(path, error);
    }
    terminal.out(safe`${oneLine(path)}\n`);
  }
}

/** Without `recursive`, which never returns for a path below /proc. */
async function createFolder(path: string): Promise<void> {
  if ((await stat(path).catch(() => undefined))?.isDirectory()) return;
  if (dirname(path) !== path) await createFolder(dirname(path));
  await mkdir(path);
}

export function unwritableError(where: string, error: unknown): AppError {
  return new AppError('OUTPUT_UNWRITABLE', `${where}: cannot be written (${systemErrorReason(error)})`, {
    remedy: 'Choose a path that you can write to, on a disk with free space.',
    cause: error,
  });
}

/** `C:\k\kubelet.conf` becomes `C/k/kubelet.conf`; the path cannot leave the folder. */
function safeParts(name: string): string[] {
  return name
    .replace(/^([A-Za-z]):/, '$1')
    .split(/[\\/]/)
    .filter(part => part !== '' && part !== '.' && part !== '..');
}

/** Pads all columns but the last to their widest cell. A cell never spans several lines. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map(row => row.map((cell, index) => (index === 0 ? indentedCell(cell) : oneLine(cell))));
  const columns = Math.max(0, ...rows.map(row => row.length));
  const widths = Array.from({ length: columns }, (_, index) => Math.max(...rows.map(row => row[index]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  ');
  return rows.map(row => line(row).trimEnd()).join('\n');
}

/** Keeps leading blanks. */
function indentedCell(cell: string): string {
  const text = cell.trimStart();
  return `${' '.repeat(cell.length - text.length)}${oneLine(text)}`;
}

/** `error: CODE: message` and the remedy below it; without a code for usage errors. */
export function errorText(error: AppError): SafeText {
  return safe`${oneLine(errorLabel(error))}: ${paragraph(error.message, '  ')}\n  -> ${paragraph(error.remedy, '     ')}`;
}

/** For exceptions that are not AppErrors; the stack helps to report the bug. */
export function internalError(error: unknown): AppError {
  return new AppError('INTERNAL_ERROR', error instanceof Error ? (error.stack ?? error.message) : inspect(error), {
    remedy: 'Report this output to the developers of the operator.',
    cause: error,
  });
}

export function errorData(error: AppError): { code: string; message: string; remedy: string } {
  return { code: error.code, message: error.message, remedy: error.remedy };
}

function endLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
