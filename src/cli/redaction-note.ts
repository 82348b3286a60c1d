import { redacted } from '#base/secret.ts';
import type { Command, Options } from './command.ts';
import { type SafeText, safe } from './safe-text.ts';

/** A line for standard error; undefined when the content shows all values, or no flag would show them. */
export function redactionNote(
  content: string,
  command: Pick<Command, 'options'>,
  options: Options,
): SafeText | undefined {
  const count = content.split(redacted).length - 1;
  if (count === 0 || !command.options.includes('showSecrets') || options['showSecrets'] === true) return undefined;
  return count === 1
    ? safe`note: 1 value is redacted; use --show-secrets to print it`
    : safe`note: ${count} values are redacted; use --show-secrets to print them`;
}
