import { FakeKoffi } from './fake-koffi.ts';
import { MemoryRegistry } from './memory-registry.ts';

/** A service as Windows keeps it. Numbers are those of Windows. */
export interface FakeService {
  name: string;
  type: number;
  start: number;
  errorControl: number;
  command: string;
  account: string | null;
  displayName: string | null;
  dependencies: string[];
  description: string;
  /** Type and delay of each action. */
  actions: [type: number, delayMs: number][];
  resetSeconds: number;
  actsOnFailure: number;
  state: number;
  pid: number;
  isMarked: boolean;
}

interface Opened {
  service?: FakeService;
  rights: number;
}

/** Error numbers of Windows. */
const error = { denied: 5, badHandle: 6, invalidLevel: 124, moreData: 234, missing: 1060, marked: 1072, exists: 1073 };

/** The service manager behind the functions of Windows: checks the rights of every handle and counts what is open. */
export class FakeServiceManager {
  readonly services = new Map<string, FakeService>();
  /** Where services have their variables. */
  readonly registry = new MemoryRegistry();
  readonly handles = new Map<bigint, Opened>();
  /** Calls that fail, with the number of the error. */
  failing: Record<string, number> = {};
  /** Services that cannot be opened. */
  readonly denied = new Set<string>();
  /** Services with a configuration that makes no sense. */
  readonly garbled = new Set<string>();
  /** How many services go into one answer. */
  page = 1000;
  /** Wine has no recovery and does not return dependencies. */
  isWine = false;
  /** How long calls take that fail, on a clock of its own. */
  slownessMs = 0;
  ms = 0;
  readonly monotonicMs = (): number => this.ms;
  #last = 0x100n;

  readonly koffi: FakeKoffi = new FakeKoffi({
    OpenSCManagerW: (_machine: null, _database: null, rights: number) =>
      this.#do('OpenSCManagerW', () => this.#open({ rights })),
    OpenServiceW: (manager: bigint, name: string, rights: number) =>
      this.#do('OpenServiceW', () => {
        this.#opened(manager, 0x1);
        const service = this.services.get(name.toLowerCase());
        if (service === undefined) return this.#fail(error.missing);
        return this.denied.has(name) ? this.#fail(error.denied) : this.#open({ service, rights });
      }),
    CloseServiceHandle: (handle: bigint) => this.#close(handle),
    EnumServicesStatusExW: (...args: unknown[]) => this.#do('EnumServicesStatusExW', () => this.#enumerate(args)),
    QueryServiceConfigW: (handle: bigint, bytes: Buffer) =>
      this.#do('QueryServiceConfigW', () => this.#writeConfig(this.#service(handle, 0x1), bytes)),
    QueryServiceConfig2W: (handle: bigint, level: number, bytes: Buffer) =>
      this.#do(`QueryServiceConfig2W ${level}`, () => this.#writeExtra(this.#service(handle, 0x1), level, bytes)),
    QueryServiceStatusEx: (handle: bigint, _level: number, bytes: Buffer) =>
      this.#do('QueryServiceStatusEx', () => writeStatus(this.#service(handle, 0x4), bytes, 0)),
    CreateServiceW: (...args: unknown[]) => this.#do('CreateServiceW', () => this.#create(args)),
    ChangeServiceConfigW: (...args: unknown[]) => this.#do('ChangeServiceConfigW', () => this.#change(args)),
    ChangeServiceConfig2W: (handle: bigint, level: number, info: Buffer) =>
      this.#do(`ChangeServiceConfig2W ${level}`, () => this.#changeExtra(handle, level, info)),
    StartServiceW: (handle: bigint) =>
      this.#do('StartServiceW', () => Object.assign(this.#service(handle, 0x10), { state: 2, pid: 77 }) && 1),
    ControlService: (handle: bigint, control: number) =>
      this.#do('ControlService', () =>
        control === 1 ? Object.assign(this.#service(handle, 0x20), { state: 3 }) && 1 : 0,
      ),
    DeleteService: (handle: bigint) =>
      this.#do('DeleteService', () => {
        const service = this.#service(handle, 0x1_0000);
        if (service.isMarked) return this.#fail(error.marked);
        service.isMarked = true;
        return 1;
      }),
    RegGetValueW: (...args: unknown[]) => this.#readRegistry(args),
  });

  install(name: string, over: Partial<FakeService> = {}): FakeService {
    const service: FakeService = {
      name,
      type: 0x10,
      start: 3,
      errorControl: 1,
      command: `${name}.exe`,
      account: null,
      displayName: null,
      dependencies: [],
      description: '',
      actions: [],
      resetSeconds: 0,
      actsOnFailure: 0,
      state: 1,
      pid: 0,
      isMarked: false,
      ...over,
    };
    this.services.set(name.toLowerCase(), service);
    return service;
  }

  /** Runs a function of Windows; what it throws is the number of an error. */
  #do(call: string, act: () => unknown): unknown {
    const number = this.failing[call];
    try {
      if (number === undefined) return act();
      this.ms += this.slownessMs;
      return this.#fail(number);
    } catch (thrown) {
      if (typeof thrown !== 'number') throw thrown;
      return this.#fail(thrown);
    }
  }

  #fail(number: number): null {
    this.koffi.lastError = number;
    return null;
  }

  #open(opened: Opened): bigint {
    this.handles.set(++this.#last, opened);
    return this.#last;
  }

  #opened(handle: bigint, right: number): Opened {
    const opened = this.handles.get(handle);
    if (opened === undefined) throw error.badHandle;
    if ((opened.rights & right) !== right) throw error.denied;
    return opened;
  }

  #service(handle: bigint, right: number): FakeService {
    const { service } = this.#opened(handle, right);
    if (service === undefined) throw error.badHandle;
    return service;
  }

  #close(handle: bigint): number {
    const service = this.handles.get(handle)?.service;
    if (!this.handles.delete(handle)) throw new Error('a handle is closed twice');
    const isOpen = [...this.handles.values()].some(opened => opened.service === service);
    if (service?.isMarked && service.state === 1 && !isOpen) this.services.delete(service.name.toLowerCase());
    // Every call may change the number of the last error.
    this.koffi.lastError = 0;
    return 1;
  }

  #enumerate(args: unknown[]): unknown {
    const [manager, level, type, state, bytes, size, , returned, resume] = args as [
      ...[bigint, number, number, number, Buffer, number, number[], number[], number[]],
    ];
    this.#opened(manager, 0x4);
    if (level !== 0 || type !== 0x30 || state !== 3 || size > 256 * 1024) throw 87;
    const from = resume[0] ?? 0;
    const found = [...this.services.values()].slice(from, from + this.page);
    let end = found.length * 56;
    for (const [index, service] of found.entries()) {
      end = this.#writeText(bytes, index * 56, end, service.name);
      writeStatus(service, bytes, index * 56 + 16);
    }
    returned[0] = found.length;
    const isAll = from + found.length >= this.services.size;
    resume[0] = isAll ? 0 : from + found.length;
    return isAll ? 1 : this.#fail(error.moreData);
  }

  #create(args: unknown[]): unknown {
    const [manager, name, displayName, rights, type, start, errorControl, command, , , list, account] = args as [
      ...[bigint, string, string | null, number, number, number, number, string],
      ...[null, null, Buffer | null, string | null],
    ];
    this.#opened(manager, 0x2);
    const existing = this.services.get(name.toLowerCase());
    if (existing !== undefined) throw existing.isMarked ? error.marked : error.exists;
    const over = { displayName, type, start, errorControl, command, account, dependencies: textsOf(list) };
    return this.#open({ rights, service: this.install(name, over) });
  }

  #change(args: unknown[]): unknown {
    const [handle, type, start, errorControl, command, group, tag, list, account] = args as [
      ...[bigint, number, number, number, string | null, null, null, Buffer | null, string | null],
    ];
    const service = this.#service(handle, 0x2);
    if (service.isMarked) throw error.marked;
    if (group !== null || tag !== null) throw 87;
    const keep = 0xffff_ffff;
    if (type !== keep) service.type = type;
    if (start !== keep) service.start = start;
    if (errorControl !== keep) service.errorControl = errorControl;
    if (command !== null) service.command = command;
    if (list !== null) service.dependencies = textsOf(list);
    if (account !== null) service.account = account;
    return 1;
  }

  #changeExtra(handle: bigint, level: number, info: Buffer): unknown {
    const service = this.#service(handle, 0x2);
    if (service.isMarked) throw error.marked;
    const pointer = (offset: number) => info.readBigUInt64LE(offset);
    if (level === 1) service.description = this.koffi.decode.string16(pointer(0));
    else if (this.isWine) return level === 2 ? 1 : this.#fail(error.invalidLevel);
    else if (level === 2) this.#changeActions(handle, service, info);
    else if (level === 4) service.actsOnFailure = info.readUInt32LE(0);
    else throw error.invalidLevel;
    return 1;
  }

  #changeActions(handle: bigint, service: FakeService, info: Buffer): void {
    const [count, start] = [info.readUInt32LE(24), info.readBigUInt64LE(32)];
    // Without a pointer to an array Windows ignores the call.
    if (start === 0n) return;
    const word = (offset: number) => this.koffi.decode(start, offset, 'uint32_t') as number;
    const actions = Array.from({ length: count }, (_, index): [number, number] => [
      word(8 * index),
      word(8 * index + 4),
    ]);
    if (actions.some(([type]) => type === 1)) this.#opened(handle, 0x10);
    Object.assign(service, { actions, resetSeconds: info.readUInt32LE(0) });
  }

  #writeConfig(service: FakeService, bytes: Buffer): number {
    bytes.fill(0xee);
    for (const offset of [16, 24, 40, 48, 56]) bytes.writeBigUInt64LE(0n, offset);
    bytes.writeUInt32LE(service.type, 0);
    bytes.writeUInt32LE(service.start, 4);
    const end = this.#writeText(bytes, 16, 64, service.command);
    this.#writeText(bytes, 40, end, this.isWine ? '' : service.dependencies.map(name => `${name}\0`).join(''));
    if (this.garbled.has(service.name)) bytes.writeBigUInt64LE(1n, 16);
    return 1;
  }

  #writeExtra(service: FakeService, level: number, bytes: Buffer): unknown {
    bytes.fill(0xee);
    if (level === 1) return this.#writeText(bytes, 0, 8, service.description);
    if (level !== 2 || this.isWine) return this.#fail(error.invalidLevel);
    bytes.fill(0, 0, 40);
    bytes.writeUInt32LE(service.resetSeconds, 0);
    bytes.writeUInt32LE(service.actions.length, 24);
    if (service.actions.length > 0) bytes.writeBigUInt64LE(this.koffi.address(bytes) + 40n, 32);
    for (const [index, word] of service.actions.flat().entries()) bytes.writeUInt32LE(word, 40 + 4 * index);
    return 1;
  }

  #readRegistry(args: unknown[]): number {
    const [, key, value, types, , bytes] = args as [unknown, string, string, number, unknown, Buffer];
    const name = key.replace('SYSTEM\\CurrentControlSet\\Services\\', '');
    const service = this.services.get(name.toLowerCase());
    if (value !== 'DependOnService' || types !== 0x20 || !service || service.dependencies.length === 0) return 2;
    bytes.write(`${service.dependencies.map(text => `${text}\0`).join('')}\0`, 'utf16le');
    return 0;
  }

  /** Writes a text and a pointer to it; gives where it ends. */
  #writeText(bytes: Buffer, at: number, to: number, text: string): number {
    bytes.writeBigUInt64LE(this.koffi.address(bytes) + BigInt(to), at);
    return to + bytes.write(`${text}\0`, to, 'utf16le');
  }
}

function writeStatus({ type, state, pid }: FakeService, bytes: Buffer, at: number): number {
  bytes.fill(0, at, at + 36);
  for (const [offset, word] of [
    [0, type],
    [4, state],
    [28, pid],
  ] as const)
    bytes.writeUInt32LE(word, at + offset);
  return 1;
}

function textsOf(list: Buffer | null): string[] {
  const texts = list?.toString('utf16le').split('\0') ?? [];
  return texts.slice(0, texts.indexOf(''));
}
