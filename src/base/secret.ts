/** A text that must not appear in logs, errors, events or status. `reveal()` returns it. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return redacted;
  }

  toJSON(): string {
    return redacted;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return redacted;
  }
}

export const redacted = '<redacted>';

/** Hides user and password of a URL: everything before its last @. */
export function withoutLogin(url: string): string {
  const at = url.lastIndexOf('@');
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url) ?? [];
  return at === -1 ? url : `${scheme}${redacted}${url.slice(at)}`;
}
