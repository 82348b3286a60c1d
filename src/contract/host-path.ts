import { shown } from '#base/errors.ts';
import { dir } from './paths.ts';

/** Where files of ours may be; what lies in the first is the agent's own business. */
const closed = [dir.staged];
const open = [dir.k, dir.temp, dir.log];

/** Throws what `refuse` makes of the first problem: a place that is not ours, or two files that would be one to Windows. */
export function checkPlaces(paths: readonly string[], refuse: (what: string) => Error): void {
  const files = new Set<string>();
  for (const path of paths) {
    const problem = placeProblem(path);
    if (problem !== undefined) throw refuse(`path ${shown(path)} ${problem}`);
    if (files.has(pathKey(path))) throw refuse(`path ${shown(path)} is there twice`);
    files.add(pathKey(path));
  }
  for (const path of paths) {
    const parent = parentsOf(path).find(directory => files.has(directory));
    if (parent !== undefined) throw refuse(`path ${shown(path)} needs a directory where a file is to be`);
  }
}

/** The form in which two spellings of one path are equal, for Windows does not tell names apart by case. */
export function pathKey(path: string): string {
  return path.toLowerCase();
}

/** The directory that it is in; empty for a drive. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('\\')));
}

/** Why a file of ours may not be at the path; undefined when it may. */
function placeProblem(path: string): string | undefined {
  const isBelow = (directory: string) => pathKey(path).startsWith(pathKey(`${directory}\\`));
  if (!open.some(isBelow) || closed.some(isBelow)) return `is not below ${open.join(', ')}, or is below ${closed[0]}`;
  // Longer ones need a special form that not every program understands.
  if (path.length > 259) return 'is longer than 259 characters';
  return path.split('\\').slice(1).every(isPlainName) ? undefined : 'has a part that is no plain file name';
}

/** Refuses what Windows would take for something else: streams, devices, short names, names that it cuts at the end. */
function isPlainName(name: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are among what a name may not have
  if (name === '' || /[<>:"/\\|?*\u0000-\u001f]/.test(name) || /[. ]$/.test(name) || /~\d/.test(name)) return false;
  return !/^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³])(\..*)?$/i.test(name);
}

function parentsOf(path: string): string[] {
  const parts = pathKey(path).split('\\');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('\\'));
}
