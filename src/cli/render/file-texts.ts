import type { CommandOutput } from '../output.ts';

/** Files of a node in every output format. */
export function fileTexts(files: readonly { path: string; content: string }[]): CommandOutput {
  const byPath = Object.fromEntries(files.map(({ path, content }) => [path, content]));
  const text = files.map(({ path, content }) => `=== ${path}\n${content.trimEnd()}\n`).join('\n');
  return { text, data: byPath, files: byPath };
}
