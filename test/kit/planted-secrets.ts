import { createPrivateKey } from 'node:crypto';
import { toBase64 } from '../../src/base/bytes.ts';

/** A value that must not be readable in any output. */
export interface PlantedSecret {
  /** For people; never the secret itself. */
  what: string;
  content: string | Uint8Array;
}

/** Something that was logged, stored or shown, and where. */
export interface Output {
  where: string;
  text: string;
}

export interface Leak {
  what: string;
  where: string;
  form: string;
}

/** Fails when a secret can be read in the output, whole or in part, plain or encoded. */
export function expectNoSecrets(secrets: readonly PlantedSecret[], output: readonly Output[]): void {
  const leaks = findLeaks(secrets, output);
  if (leaks.length === 0) return;
  const lines = new Set(leaks.map(({ what, where, form }) => `${what}, ${form}, in ${where}`));
  throw new Error(`secrets can be read:\n${[...lines].slice(0, 50).join('\n')}`);
}

export function findLeaks(secrets: readonly PlantedSecret[], output: readonly Output[]): Leak[] {
  const pieces = piecesOf(secrets);
  return output.flatMap(({ where, text }) => {
    const found = [...patternsIn(text), ...viewsOf(text).flatMap(view => piecesIn(view, pieces))];
    return found.map(each => ({ ...each, where }));
  });
}

/** A private key in PEM form: its secret parts, without what its certificate or public key contains. */
export function keySecrets(what: string, pem: string): PlantedSecret[] {
  const { d, p, q, k } = createPrivateKey(pem).export({ format: 'jwk' });
  return [d, p, q, k].flatMap(part => (part === undefined ? [] : [{ what, content: Buffer.from(part, 'base64url') }]));
}

type Found = Pick<Leak, 'what' | 'form'>;

/** So long that no other text has it by chance, so short that even a part of a secret has one of them whole. */
const pieceLength = 12;

/** Every way in which a secret may be written, in pieces that lie side by side. */
function piecesOf(secrets: readonly PlantedSecret[]): ReadonlyMap<string, Found> {
  const pieces = new Map<string, Found>();
  for (const { what, content } of secrets) {
    for (const [form, text] of formsOf(content)) {
      if (text.length < pieceLength) continue;
      for (let at = 0; at < text.length; at += pieceLength) {
        const from = Math.min(at, text.length - pieceLength);
        pieces.set(text.slice(from, from + pieceLength), { what, form });
      }
    }
  }
  return pieces;
}

function formsOf(content: string | Uint8Array): [form: string, text: string][] {
  const bytes = Buffer.from(content as string);
  const once = base64Forms(bytes);
  // A key is base64 by itself, a Secret is once more, and so is whatever quotes the Secret.
  const twice = once.flatMap(base64Forms);
  const forms: [form: string, texts: readonly string[]][] = [
    ['as it is', typeof content === 'string' ? [squeezed(content)] : []],
    ['in base64', once],
    ['in base64 for URLs', once.map(text => text.replaceAll('+', '-').replaceAll('/', '_'))],
    ['in base64, twice', twice],
    ['in base64, thrice', twice.flatMap(base64Forms)],
    ['in hexadecimal', [bytes.toString('hex')]],
  ];
  return forms.flatMap(([form, texts]) => texts.map((text): [string, string] => [form, text]));
}

/** As it looks at the beginning, or behind one or two other bytes; the edges depend on what stands beside and are left out. */
function base64Forms(content: string | Uint8Array): string[] {
  const bytes = Buffer.from(content as string);
  return [0, 1, 2].map(before => {
    const text = toBase64(Buffer.concat([Buffer.alloc(before), bytes])).replaceAll('=', '');
    return text.slice(before === 0 ? 0 : before + 1, ((before + bytes.length) % 3 === 0 ? 0 : -1) || undefined);
  });
}

/** The text plain and URL-decoded, both without line breaks. */
function viewsOf(text: string): string[] {
  const plain = squeezed(text);
  if (!text.includes('%')) return [plain];
  const decoded = text.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return [plain, squeezed(decoded)];
}

/** Without anything that wraps or quotes: line breaks, blanks, and the backslashes with which JSON writes them. */
function squeezed(text: string): string {
  return text.replaceAll(/\\+[nrt]|[\s\\]/g, '');
}

function piecesIn(text: string, pieces: ReadonlyMap<string, Found>): Found[] {
  const found = new Set<Found>();
  for (let at = 0; at + pieceLength <= text.length; at += 1) {
    const piece = pieces.get(text.slice(at, at + pieceLength));
    if (piece !== undefined) found.add(piece);
  }
  return [...found];
}

/** What looks like a secret, whosever it is. */
const patterns: readonly [what: string, pattern: RegExp][] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\+[nr]|\s)*[A-Za-z0-9+/]{16}/],
  ['a token', /eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}/],
  ['a token in base64', new RegExp(base64Forms('eyJhbGciOi').join('|'))],
  ['an authorization header', /\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}/i],
  ['the login of a URL', /:\/\/[^/\s:@"'<>\\]+:[^/\s@"'<>\\]+@/],
];

function patternsIn(text: string): Found[] {
  return patterns.flatMap(([what, pattern]) => (pattern.test(text) ? [{ what, form: 'by its looks' }] : []));
}
