import { shown } from '#base/errors.ts';
import { dir, file } from './paths.ts';

/** Folders for files of the operator; the first is for the agent alone. */
const closed = [dir.staged];
const open = [dir.k, dir.temp, dir.log];
/** The only files in folders of other programs. */
const single: readonly string[] = [file.registryLogins];

/**
 * Throws the error of `invalid` for the first problem: a path that is not allowed, or two paths of the same file on
 * Windows.
 */
export function checkPlaces(paths: readonly string[], invalid: (what: string) => Error): void {
  const files = new Set<string>();
  for (const path of paths) {
    const problem = placeProblem(path);
    if (problem !== undefined) throw invalid(`path ${shown(path)} ${problem}`);
    if (files.has(pathKey(path))) throw invalid(`path ${shown(path)} is listed twice`);
    files.add(pathKey(path));
  }
  for (const path of paths) {
    const parent = parentsOf(path).find(directory => files.has(directory));
    if (parent !== undefined) throw invalid(`path ${shown(path)} has a file as its parent directory`);
  }
}

/** Equal for all spellings of a path: Windows ignores case. */
export function pathKey(path: string): string {
  return path.toLowerCase();
}

/** The parent directory; empty for a drive. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('\\')));
}

/** Why the path is not allowed; undefined when it is. */
function placeProblem(path: string): string | undefined {
  const isBelow = (directory: string) => pathKey(path).startsWith(pathKey(`${directory}\\`));
  if (single.includes(path)) return undefined;
  if (!open.some(isBelow) || closed.some(isBelow)) return `is not below ${open.join(', ')}, or is below ${closed[0]}`;
  // Longer paths need a prefix that not every program supports.
  if (path.length > 259) return 'is longer than 259 characters';
  return path.split('\\').slice(1).every(isPlainName) ? undefined : 'has a part that is not a plain file name';
}

/** Rejects names with a special meaning on Windows: streams, devices, short names, trailing dots and spaces. */
function isPlainName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- file names must not have control characters
  if (name === '' || /[<>:"/\\|?*\u0000-\u001f]/.test(name) || /[. ]$/.test(name) || /~\d/.test(name)) return false;
  return !/^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])(\..*)?$/i.test(name);
}

function parentsOf(path: string): string[] {
  const parts = pathKey(path).split('\\');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('\\'));
}
