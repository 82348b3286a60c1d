import type { Koffi, NativeFunction } from '../../src/agent/win32/native.ts';

type Act = (...args: never[]) => unknown;

/** Stands in for native code: the functions of Windows are given by name, and memory is a few buffers with made-up addresses. */
export class FakeKoffi implements Koffi {
  /** Result of GetLastError. */
  lastError = 0;
  /** Every call in order, by name. */
  readonly calls: string[] = [];
  readonly #functions: Record<string, Act>;
  readonly #memory: { start: bigint; bytes: Buffer }[] = [];

  constructor(functions: Readonly<Record<string, Act>>) {
    this.#functions = {
      GetLastError: () => this.lastError,
      GetSystemDirectoryW: (text: Buffer) => text.write('C:\\Windows\\system32', 'utf16le') / 2,
      ...functions,
    };
  }

  /** Puts bytes into memory and gives their address. */
  store(bytes: Buffer): bigint {
    const last = this.#memory.at(-1);
    const start = last === undefined ? 0x7ff0_0000n : last.start + BigInt(last.bytes.length) + 64n;
    this.#memory.push({ start, bytes });
    return start;
  }

  /** Puts UTF-16 text into memory, ended by NUL. */
  storeText(text: string): bigint {
    return this.store(Buffer.from(`${text}\0`, 'utf16le'));
  }

  load = (library: string) => ({
    func: (prototype: string): NativeFunction => {
      const name = /(\w+)\(/.exec(prototype)?.[1] ?? '';
      const act = this.#functions[name];
      if (act === undefined) throw new Error(`Cannot find function '${name}' in ${library}`);
      const call = (...args: unknown[]): unknown => {
        if (name !== 'GetLastError' && name !== 'GetSystemDirectoryW') this.calls.push(name);
        return act(...(args as never[]));
      };
      const async = (...args: unknown[]): void => {
        const done = args.pop() as (error: Error | null, result?: unknown) => void;
        setImmediate(() => {
          const before = this.lastError;
          try {
            done(null, call(...args));
          } catch (error) {
            done(error as Error);
          } finally {
            // The number stays on the thread on which the call ran.
            this.lastError = before;
          }
        });
      };
      return Object.assign(call, { async });
    },
    symbol: (name: string): bigint => this.storeText(name),
  });

  decode = Object.assign(
    (address: unknown, offset: number, type: string, length?: number): unknown => {
      const bytes = this.#from(address).subarray(offset);
      if (type === 'uint8_t' && length !== undefined) return new Uint8Array(bytes.subarray(0, length));
      if (type === 'uint32_t' && length === undefined) return bytes.readUInt32LE();
      throw new Error(`no double for decode ${type}`);
    },
    {
      string16: (address: unknown): string => this.#from(address).toString('utf16le').split('\0')[0] ?? '',
    },
  );

  address = (value: unknown): bigint => {
    if (typeof value === 'bigint') return value;
    const bytes = value as Buffer;
    return this.#memory.find(block => block.bytes === bytes)?.start ?? this.store(bytes);
  };

  proto = (definition: string): unknown => definition;
  pointer = (type: unknown): unknown => type;
  /** Functions that Windows may call, by their address. */
  readonly callbacks = new Map<bigint, Act>();
  register = (callback: Act): bigint => {
    const address = BigInt(0x40_0000 + this.callbacks.size);
    this.callbacks.set(address, callback);
    return address;
  };
  unregister = (): void => undefined;

  #from(address: unknown): Buffer {
    const at = address as bigint;
    const block = this.#memory.find(({ start, bytes }) => at >= start && at < start + BigInt(bytes.length));
    if (block === undefined) throw new Error(`there is no memory at ${String(address)}`);
    return block.bytes.subarray(Number(at - block.start));
  }
}
