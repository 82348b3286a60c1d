import { AppError, shown } from './errors.ts';

/**
 * Reads an untrusted object. Every access checks the type and throws an AppError that names object, field and value.
 */
export class Fields {
  readonly label: string;
  readonly path: string;
  readonly #value: Record<string, unknown>;

  constructor(value: unknown, label: string, path = '') {
    this.label = label;
    this.path = path;
    // null in JSON and YAML counts as missing.
    if (value !== undefined && value !== null && !isRecord(value)) throw this.#wrong('', value, 'an object');
    this.#value = isRecord(value) ? value : {};
  }

  names(): string[] {
    return Object.keys(this.#value);
  }

  /** An own member of any type; null counts as missing. */
  raw(name: string): unknown {
    return ownMember(this.#value, name) ?? undefined;
  }

  string(name: string): string | undefined {
    return this.#typed(name, 'a string', value => typeof value === 'string') as string | undefined;
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined) throw this.#wrong(name, undefined, 'a string');
    return value;
  }

  number(name: string): number | undefined {
    return this.#typed(name, 'a number', value => typeof value === 'number' && Number.isFinite(value)) as number;
  }

  boolean(name: string): boolean | undefined {
    return this.#typed(name, 'true or false', value => typeof value === 'boolean') as boolean | undefined;
  }

  object(name: string): Fields {
    return new Fields(this.raw(name), this.label, this.#join(name));
  }

  objects(name: string): Fields[] {
    return this.#list(name).map((item, index) => new Fields(item, this.label, `${this.#join(name)}[${index}]`));
  }

  strings(name: string): string[] {
    return this.#list(name).map((item, index) => {
      if (typeof item !== 'string') throw this.#wrong(`${name}[${index}]`, item, 'a string');
      return item;
    });
  }

  /** A map of strings, such as labels or the data of a ConfigMap. */
  stringMap(name: string): Record<string, string> {
    const member = this.object(name);
    return Object.fromEntries(member.names().map(key => [key, member.string(key) ?? '']));
  }

  #list(name: string): unknown[] {
    return (this.#typed(name, 'a list', Array.isArray) as unknown[] | undefined) ?? [];
  }

  #typed(name: string, expected: string, fits: (value: unknown) => boolean): unknown {
    const value = this.raw(name);
    if (value !== undefined && !fits(value)) throw this.#wrong(name, value, expected);
    return value;
  }

  #join(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #wrong(name: string, value: unknown, expected: string): AppError {
    const field = name === '' ? this.path : this.#join(name);
    const subject = field === '' ? this.label : `${this.label}: ${field}`;
    const problem = value === undefined ? `is missing; expected ${expected}` : `is ${shown(value)}, not ${expected}`;
    return new AppError('FIELD_INVALID', `${subject} ${problem}`, {
      remedy: field === '' ? `Provide ${expected}.` : `Set ${field} to ${expected}.`,
    });
  }
}

/** An own member: `constructor` does not find the inherited one. */
export function ownMember<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON; undefined when invalid. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
