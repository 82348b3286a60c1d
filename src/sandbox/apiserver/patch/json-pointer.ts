import { isRecord } from '#base/fields.ts';

/** Tokens of a JSON pointer, RFC 6901; undefined if it is invalid. */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/')) return undefined;
  return text
    .slice(1)
    .split('/')
    .map(token => token.replaceAll(/~[01]/g, escape => (escape === '~1' ? '/' : '~')));
}

/**
 * List index of a token; undefined if it is out of range. Negative numbers count
 * from the end, as in the API server but not in the RFC.
 */
export function listIndex(token: string, length: number): number | undefined {
  if (!/^-?(0|[1-9]\d*)$/.test(token)) return undefined;
  const number = Number(token);
  const index = token.startsWith('-') ? length + number : number;
  return index >= 0 && index < length ? index : undefined;
}

/** Undefined if there is no such member. */
export function memberOf(container: unknown, token: string): { value: unknown } | undefined {
  if (Array.isArray(container)) {
    const index = listIndex(token, container.length);
    return index === undefined ? undefined : { value: container[index] };
  }
  return isRecord(container) && Object.hasOwn(container, token) ? { value: container[token] } : undefined;
}

export function valueAt(document: unknown, tokens: readonly string[]): { value: unknown } | undefined {
  let found: { value: unknown } | undefined = { value: document };
  for (const token of tokens) {
    found = memberOf(found.value, token);
    if (found === undefined) return undefined;
  }
  return found;
}
