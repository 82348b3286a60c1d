import { AppError, shown } from '../src/base/errors.ts';

/** Reads an argument of a benchmark; `usage` is an example of the command. */
export function wholeNumber(text: string, usage: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new AppError('USAGE', `${shown(text)} is not a whole number from 1 to 99999`, { remedy: `Example: ${usage}` });
}
