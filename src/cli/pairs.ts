import { AppError } from '#base/errors.ts';

/** `NAME=VALUE` words as a map. Messages never quote the value, which may be a proxy URL with a password. */
export function parsePairs(words: unknown, option: string): Record<string, string> {
  const list = Array.isArray(words) ? (words as string[]) : [];
  return Object.fromEntries(
    list.map((word, index) => {
      const cut = word.indexOf('=');
      if (cut > 0) return [word.slice(0, cut), word.slice(cut + 1)] as const;
      throw new AppError('USAGE', `${option}: word ${index + 1} is not NAME=VALUE`, {
        remedy: `Use ${option} NAME=VALUE.`,
      });
    }),
  );
}
