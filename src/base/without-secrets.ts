import { redacted, withoutLogin } from './secret.ts';

/**
 * Hides logins of URLs, what looks like a token or a key, and the rest of a line after a word for a secret. Hiding too much is
 * harmless.
 */
export function withoutSecrets(line: string): string {
  return line
    .split(' ')
    .map(word => (isPaddedBase64(word) ? redacted : withoutLogins(word)))
    .join(' ')
    .replace(/(pass|pwd|secret|token|key\b|auth|login|bearer|credential).*/i, `$1 ${redacted}`)
    .replaceAll(/[A-Za-z0-9+/=_.~-]{20,}/g, run => (/^[a-z_./-]+$/.test(run) ? run : redacted));
}

/** The word may have quotes or a name before its URL. */
function withoutLogins(word: string): string {
  const start = word.indexOf('//') + 2;
  return start === 1 ? word : `${word.slice(0, start)}${withoutLogin(word.slice(start))}`;
}

function isPaddedBase64(word: string): boolean {
  return word.length >= 8 && /=["',;)]?$/.test(word);
}
