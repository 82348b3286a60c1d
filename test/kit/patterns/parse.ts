/** Parts of a regular expression, as far as its cost depends on them. */
export type Part =
  | { is: 'character'; set: CharacterSet }
  /** `start` is `^` of the whole text; others, such as `$` and `\b`, only matter because they can fail. */
  | { is: 'assertion'; start: boolean }
  | { is: 'group'; alternatives: Part[][]; lookaround: boolean }
  | { is: 'repetition'; min: number; max: number; body: Part };

/** Which of the samples belong to it. */
export type CharacterSet = ReadonlySet<number>;

/** Every character below 256, and some others that classes treat in different ways. */
const samples = [...Array(256).keys(), 0x3bc, 0x1100, 0x2028, 0x2029, 0x202e, 0x3000, 0x4e00, 0xac00, 0xfeff];

export const anyCharacter: CharacterSet = new Set(samples);
const lineEnds: CharacterSet = new Set([0x0a, 0x0d, 0x2028, 0x2029]);

/** Reads a pattern; throws on what it does not know, which then has to be looked at by a human. */
export function parsePattern(source: string, flags: string): Part[][] {
  const parser = new Parser(source, flags);
  const alternatives = parser.alternatives();
  parser.end();
  return alternatives;
}

const escapeSequence = /\\(?:u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]+\}|[^1-9k])/y;
const characterClass = /\[\^?(?:\\.|[^\\\]])*\]/y;
const groupStart = /\((?:\?(?:<(?![=!])\w+>|[a-z]*(?:-[a-z]+)?:|<?[=!]))?/y;
const quantifier = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y;

class Parser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    if (flags.includes('v')) throw new Error('the flag v is not known here');
    this.#source = source;
    this.#flags = flags;
  }

  end(): void {
    if (this.#at < this.#source.length) throw this.#unknown();
  }

  alternatives(): Part[][] {
    const found = [this.#sequence()];
    while (this.#take('|')) found.push(this.#sequence());
    return found;
  }

  #sequence(): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      parts.push(this.#quantified(this.#atom()));
    }
    return parts;
  }

  #atom(): Part {
    if (this.#take('^')) {
      // At the start of any line: behind a line end, or at the start of the text.
      return this.#flags.includes('m') ? { is: 'character', set: lineEnds } : { is: 'assertion', start: true };
    }
    if (this.#take('$') || this.#take('\\b') || this.#take('\\B')) return { is: 'assertion', start: false };
    const opening = this.#match(groupStart);
    if (opening !== undefined) return this.#group(opening);
    const text = this.#match(escapeSequence) ?? this.#match(characterClass) ?? this.#plain();
    const pattern = new RegExp(`^(?:${text})$`, this.#flags.replaceAll(/[dgmy]/g, ''));
    return { is: 'character', set: new Set(samples.filter(code => pattern.test(String.fromCharCode(code)))) };
  }

  #group(opening: string): Part {
    const alternatives = this.alternatives();
    if (!this.#take(')')) throw this.#unknown();
    return { is: 'group', alternatives, lookaround: /[=!]$/.test(opening) };
  }

  #quantified(body: Part): Part {
    const text = this.#match(quantifier);
    if (text === undefined) return body;
    const [, from, comma, to] = /^\{(\d+)(,(\d*))?/.exec(text) ?? [];
    if (from === undefined) {
      return { is: 'repetition', min: text.startsWith('+') ? 1 : 0, max: text.startsWith('?') ? 1 : Infinity, body };
    }
    const open = to === undefined || to === '' ? Infinity : Number(to);
    return { is: 'repetition', min: Number(from), max: comma === undefined ? Number(from) : open, body };
  }

  #plain(): string {
    const [character = ''] = this.#source.slice(this.#at, this.#at + 1);
    if (character === '' || '*+?\\('.includes(character)) throw this.#unknown();
    this.#at += 1;
    return '{}]'.includes(character) ? `\\${character}` : character;
  }

  #take(text: string): boolean {
    const found = this.#source.startsWith(text, this.#at);
    if (found) this.#at += text.length;
    return found;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [text] = pattern.exec(this.#source) ?? [];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #unknown(): Error {
    return new Error(`not known at ${this.#at}: ${this.#source.slice(this.#at)}`);
  }
}
