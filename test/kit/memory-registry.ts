import type { Registry } from '../../src/agent/win32/files/registry.ts';
import { windowsError } from '../../src/agent/win32/win32-errors.ts';

/** The registry as a map from key to values; a text, a number or a list each. */
export class MemoryRegistry implements Registry {
  readonly keys: Record<string, Record<string, string | number | readonly string[]>>;
  bootTime = 0x1234_5678n;
  readonly #madeAt = new Map<string, bigint>();

  constructor(keys: Record<string, Record<string, string | number | readonly string[]>> = {}) {
    this.keys = keys;
  }

  hasKey = (key: string) => key in this.keys;

  text = (key: string, name: string) => {
    const value = this.keys[key]?.[name];
    return typeof value === 'string' ? value : undefined;
  };

  number = (key: string, name: string) => {
    const value = this.keys[key]?.[name];
    return typeof value === 'number' ? value : undefined;
  };

  texts = (key: string) => {
    const entries = Object.entries(this.keys[key] ?? {});
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  };

  list = (key: string, name: string) => {
    const value = this.keys[key]?.[name];
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw windowsError('RegQueryValueExW', `value ${name} of HKLM\\${key}`, 1630);
    return [...(value as string[])];
  };

  setList = (key: string, name: string, texts: readonly string[]) => {
    this.keys[key] = { ...this.keys[key], [name]: [...texts] };
  };

  setText = (key: string, name: string, text: string) => {
    this.keys[key] = { ...this.keys[key], [name]: text };
  };

  removeValue = (key: string, name: string) => {
    delete this.keys[key]?.[name];
  };

  volatileKeyTime = (key: string) => {
    const time = this.#madeAt.get(key) ?? this.bootTime;
    this.#madeAt.set(key, time);
    return time;
  };

  flush = () => undefined;

  /** What lives in memory only is gone. */
  boot(): void {
    this.#madeAt.clear();
    this.bootTime += 1n;
  }
}
