import { AppError } from '#base/errors.ts';
import { parseAuthorizedKey, type PublicKey } from '#host/keys/public-key.ts';

export interface GivenKey {
  key: PublicKey;
  /** Empty if there is none, or one that is left out. */
  comment: string;
  notes: readonly string[];
}

/** Nothing of it needs a quote or has a meaning in a shell. */
const plainComment = /^[\w@.+:=,/ -]+$/;

/** Reads the text of a `.pub` file. Says what else it is, and never quotes it: it may be a private key. */
export function readPublicKeyFile(text: string): GivenKey {
  const other = foreignFormats.find(({ pattern }) => pattern.test(text));
  if (other !== undefined) {
    throw new AppError('PUBLIC_KEY_UNREADABLE', `this is ${other.is}, not a public key for authorized_keys`, {
      remedy: other.remedy,
    });
  }
  const key = parseAuthorizedKey(text);
  const comment = text
    .trim()
    .split(/[ \t]+/)
    .slice(2)
    .join(' ');
  if (comment === '' || (comment.length <= 200 && plainComment.test(comment))) return { key, comment, notes: [] };
  return { key, comment: '', notes: ['the comment of the key has unusual characters and is left out'] };
}

const foreignFormats = [
  {
    pattern: /PRIVATE KEY|PuTTY-User-Key-File/,
    is: 'a private key',
    remedy: 'Use its public key, which `ssh-keygen -y -f FILE > FILE.pub` writes; keep the private one secret.',
  },
  {
    pattern: /BEGIN (SSH2 )?(RSA )?PUBLIC KEY/,
    is: 'a public key in another format',
    remedy: 'Convert it: `ssh-keygen -i -f FILE` for SSH2, `ssh-keygen -i -m PKCS8 -f FILE` for PEM.',
  },
  {
    pattern: /\0/,
    is: 'a file with zero bytes, such as UTF-16 without a byte order mark',
    remedy: 'Write it again as ASCII, in PowerShell with `Out-File -Encoding ascii`.',
  },
] as const;
