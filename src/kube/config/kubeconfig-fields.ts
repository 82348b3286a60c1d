import { fromBase64, fromUtf8 } from '#base/bytes.ts';
import { AppError } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';

/** Like Fields, but its messages do not quote values. */
export class KubeconfigFields {
  readonly where: string;
  readonly #value: Record<string, unknown>;

  constructor(where: string, value: unknown) {
    this.where = where;
    if (value !== undefined && value !== null && !isRecord(value)) throw malformed(where, 'is not an object');
    this.#value = isRecord(value) ? value : {};
  }

  has(name: string): boolean {
    return this.#raw(name) !== undefined;
  }

  text(name: string): string | undefined {
    const value = this.#raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw malformed(this.where, `${name} is not a string`, `Put the value of ${name} in quotes.`);
  }

  requiredText(name: string): string {
    const value = this.text(name) ?? '';
    if (value === '') throw malformed(this.where, `has no ${name}`, `Add ${name}.`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.#raw(name) ?? false;
    if (typeof value !== 'boolean') throw malformed(this.where, `${name} is neither true nor false`);
    return value;
  }

  decoded(name: string): string | undefined {
    const encoded = this.text(name);
    if (encoded === undefined) return undefined;
    const bytes = fromBase64(encoded.trim());
    const text = bytes === undefined ? undefined : fromUtf8(bytes);
    if (text === undefined)
      throw malformed(this.where, `${name} is not base64 of UTF-8 text`, `Encode ${name} with base64.`);
    return text;
  }

  texts(name: string): string[] {
    return this.#list(name).map((value, index) => {
      if (typeof value !== 'string') throw malformed(this.where, `${name}[${index}] is not a string`);
      return value;
    });
  }

  member(name: string, where: string): KubeconfigFields {
    return new KubeconfigFields(where, this.#raw(name));
  }

  members(name: string): KubeconfigFields[] {
    return this.#list(name).map((value, index) => new KubeconfigFields(`${this.where}: ${name}[${index}]`, value));
  }

  #list(name: string): unknown[] {
    const value = this.#raw(name) ?? [];
    if (!Array.isArray(value)) throw malformed(this.where, `${name} is not a list`);
    return value;
  }

  #raw(name: string): unknown {
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined;
  }
}

export function malformed(where: string, what: string, remedy = 'Fix the kubeconfig, or create it again.'): AppError {
  return new AppError('KUBECONFIG_MALFORMED', `${where} ${what}`, { remedy });
}
