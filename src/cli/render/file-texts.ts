import type { Shown } from '../output.ts';

/** Files of a node for people (path, then content), as data (path to content), and as files below a folder. */
export function fileTexts(files: readonly { path: string; content: string }[]): Shown {
  const byPath = Object.fromEntries(files.map(({ path, content }) => [path, content]));
  const text = files.map(({ path, content }) => `=== ${path}\n${content.trimEnd()}\n`).join('\n');
  return { text, data: byPath, files: byPath };
}
