import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { decodeProcessEntry, emptyProcessEntry, isProgram, processEntryBytes, startedBy } from './process-records.ts';
import { openProcesses } from './processes.ts';

interface FakeProcess {
  pid: number;
  parentPid: number;
  program: string;
  /** The program of that number by now, if it is another one. */
  image?: string;
  created: bigint;
  hasExited: boolean;
  /** Looks until it has ended after it was killed. */
  lingers: number;
  isProtected: boolean;
}

const exited = 0;
const timedOut = 0x102;

/** The processes of a host behind the functions of Windows; counts what is open. */
class FakeProcesses {
  readonly all: FakeProcess[] = [];
  readonly open = new Map<bigint, FakeProcess>();
  readonly killed: number[] = [];
  openLists = 0;
  /** Whether the account may debug, and whether it has said that it wants to. */
  mayDebug = false;
  isDebugging = false;
  failing: Record<string, number> = {};
  /** Done after each kill: a process may start another one meanwhile. */
  afterKill: (process: FakeProcess) => void = () => undefined;
  #lastHandle = 0x1000n;
  #position = 0;
  #listed: FakeProcess[] = [];

  readonly koffi: FakeKoffi = new FakeKoffi({
    OpenProcess: (rights: number, inherit: number, pid: number) => {
      expect([[0x10_1001, 0x10_1000], inherit]).toEqual([expect.arrayContaining([rights]), 0]);
      const process = this.all.find(one => one.pid === pid);
      if (process === undefined || (process.hasExited && !this.#isHeld(process))) return this.#fail(87);
      if (this.#fails('OpenProcess') && !this.isDebugging) return null;
      this.open.set(++this.#lastHandle, process);
      return this.#lastHandle;
    },
    CloseHandle: (handle: bigint) => {
      if (handle === 0x10n) this.openLists -= 1;
      else if (handle === 0x20n) return 1;
      else if (!this.open.delete(handle)) throw new Error('a handle is closed twice');
      return 1;
    },
    WaitForSingleObject: (handle: bigint, ms: number) => {
      if (this.#fails('WaitForSingleObject')) return 0xffff_ffff;
      const process = this.#of(handle);
      const isKilled = this.killed.includes(process.pid);
      if (isKilled && (ms > 0 || process.lingers-- <= 0)) process.hasExited = process.lingers < 1000;
      return process.hasExited ? exited : timedOut;
    },
    TerminateProcess: (handle: bigint, code: number) => {
      const process = this.#of(handle);
      expect(code).toBe(1);
      if (process.isProtected || process.hasExited) return this.#fail(5) ?? 0;
      if (this.#fails('TerminateProcess')) return 0;
      this.killed.push(process.pid);
      this.afterKill(process);
      return 1;
    },
    GetProcessTimes: (handle: bigint, created: Buffer) => {
      if (this.#fails('GetProcessTimes')) return 0;
      created.writeBigUInt64LE(this.#of(handle).created);
      return 1;
    },
    QueryFullProcessImageNameW: (handle: bigint, _flags: number, text: Buffer, length: number[]) => {
      if (this.#fails('QueryFullProcessImageNameW')) return 0;
      const { program, image = program } = this.#of(handle);
      const path = `C:\\Program Files\\x\\${image}`;
      expect(length).toEqual([text.length / 2]);
      length[0] = text.write(path, 'utf16le') / 2;
      return 1;
    },
    LookupPrivilegeValueW: () => 1,
    GetCurrentProcess: () => -1n,
    OpenProcessToken: (_process: bigint, _rights: number, token: unknown[]) => {
      token[0] = 0x20n;
      return 1;
    },
    AdjustTokenPrivileges: () => {
      this.isDebugging = this.mayDebug;
      this.koffi.lastError = this.mayDebug ? 0 : 1300;
      return 1;
    },
    CreateToolhelp32Snapshot: (flags: number, pid: number) => {
      expect([flags, pid]).toEqual([2, 0]);
      if (this.#fails('CreateToolhelp32Snapshot')) return 0xffff_ffff_ffff_ffffn;
      this.openLists += 1;
      this.#listed = this.all.filter(process => !process.hasExited);
      this.#position = 0;
      return 0x10n;
    },
    Process32FirstW: (_list: bigint, entry: Buffer) => this.#next(entry),
    Process32NextW: (_list: bigint, entry: Buffer) => this.#next(entry),
  });

  readonly port = openProcesses(this.koffi);

  start(pid: number, parentPid: number, program = 'kubelet.exe', over: Partial<FakeProcess> = {}): this {
    const usual = { created: BigInt(this.all.length), hasExited: false, lingers: 0, isProtected: false };
    this.all.push({ pid, parentPid, program, ...usual, ...over });
    return this;
  }

  #next(entry: Buffer): number {
    expect(entry.readUInt32LE(0)).toBe(processEntryBytes);
    const process = this.#listed[this.#position++];
    if (process === undefined || this.#fails('Process32NextW')) {
      if (process === undefined) this.koffi.lastError = 18;
      return 0;
    }
    entry.writeUInt32LE(process.pid, 8);
    entry.writeUInt32LE(process.parentPid, 32);
    entry.write(`${process.program}\0`, 44, 'utf16le');
    return 1;
  }

  #of(handle: bigint): FakeProcess {
    const process = this.open.get(handle);
    if (process === undefined) throw new Error(`no handle ${handle}`);
    return process;
  }

  #isHeld(process: FakeProcess): boolean {
    return [...this.open.values()].includes(process);
  }

  #fails(call: string): boolean {
    const number = this.failing[call];
    if (number !== undefined) this.#fail(number);
    return number !== undefined;
  }

  #fail(number: number): null {
    this.koffi.lastError = number;
    return null;
  }
}

async function hold(windows: FakeProcesses, pid: number) {
  const held = await windows.port.hold(pid);
  if (held === undefined) throw new Error(`${pid} has gone`);
  return held;
}

test('holds a process, reports when it has exited, and closes its handle once', async () => {
  const windows = new FakeProcesses().start(10, 1);
  const held = await hold(windows, 10);
  expect(await held.hasExited()).toBe(false);
  Object.assign(windows.all[0] ?? {}, { hasExited: true });
  expect(await held.hasExited()).toBe(true);
  held.release();
  held.release();
  expect(windows.open.size).toBe(0);
});

test('uses the privilege to debug when it needs it, and only then', async () => {
  const windows = Object.assign(new FakeProcesses().start(10, 1), { mayDebug: true });
  (await hold(windows, 10)).release();
  expect(windows.isDebugging).toBe(false);
  windows.failing = { OpenProcess: 5 };
  (await hold(windows, 10)).release();
  expect([windows.isDebugging, windows.open.size]).toEqual([true, 0]);
});

test('does not hold a process that is gone', async () => {
  const windows = new FakeProcesses().start(10, 1, 'x.exe', { hasExited: true });
  expect([await windows.port.hold(10), await windows.port.hold(11)]).toEqual([undefined, undefined]);
});

/** Which processes end with process 10, in order. */
const trees: [name: string, windows: FakeProcesses, killed: number[]][] = [
  ['alone', new FakeProcesses().start(10, 1).start(11, 1), [10]],
  ['with its children', new FakeProcesses().start(10, 1).start(11, 10).start(12, 10).start(13, 1), [10, 11, 12]],
  [
    'with children of children',
    new FakeProcesses().start(10, 1).start(11, 10).start(12, 11).start(13, 12),
    [10, 11, 12, 13],
  ],
  ['but not its parent', new FakeProcesses().start(1, 0).start(10, 1), [10]],
  [
    'but nobody who was started by an earlier process of that number',
    new FakeProcesses().start(5, 10, 'old.exe').start(6, 5, 'old.exe').start(10, 1).start(11, 10),
    [10, 11],
  ],
  [
    'with a child of the very same moment',
    new FakeProcesses().start(10, 1, 'a.exe', { created: 7n }).start(11, 10, 'b.exe', { created: 7n }),
    [10, 11],
  ],
  [
    'though the system has a process that is its own parent',
    new FakeProcesses().start(0, 0, 'idle').start(10, 10).start(11, 10),
    [10, 11],
  ],
  ['though a child has gone meanwhile', new FakeProcesses().start(10, 1).start(11, 10, 'x', { hasExited: true }), [10]],
];
test.each(trees)('ends a process %s', async (_, windows, killed) => {
  const held = await hold(windows, 10);
  await held.killTree();
  expect(windows.killed).toEqual(killed);
  expect(await held.hasExited()).toBe(true);
  expect([windows.open.size, windows.openLists]).toEqual([1, 0]);
  held.release();
  expect(windows.open.size).toBe(0);
});

test('ends children that are started while it is at it', async () => {
  const windows = new FakeProcesses().start(10, 1).start(11, 10);
  windows.afterKill = ({ pid }) => {
    if (pid === 11) windows.start(12, 11);
  };
  await (await hold(windows, 10)).killTree();
  expect(windows.killed).toEqual([10, 11, 12]);
});

test('does not chase processes forever that start again and again', async () => {
  const windows = new FakeProcesses().start(10, 1);
  windows.afterKill = ({ pid }) => void windows.start(pid + 1, pid);
  const error = await rejectionOf((await hold(windows, 10)).killTree());
  expect(error?.message).toContain('process 20: Windows error 258');
  expect(windows.killed).toHaveLength(10);
  expect(windows.openLists).toBe(0);
});

test('waits until the processes have ended', async () => {
  const windows = new FakeProcesses().start(10, 1, 'a.exe', { lingers: 3 }).start(11, 10, 'b.exe', { lingers: 3 });
  await (await hold(windows, 10)).killTree();
  expect(windows.all.map(process => process.hasExited)).toEqual([true, true]);
});

test('reports a process that does not end', async () => {
  const windows = new FakeProcesses().start(10, 1, 'a.exe', { lingers: 5000 });
  const error = await rejectionOf((await hold(windows, 10)).killTree());
  expect(error).toMatchObject({ message: expect.stringContaining('process 10') });
});

test('reports a protected process', async () => {
  const windows = new FakeProcesses().start(10, 1, 'a.exe', { isProtected: true });
  const error = await rejectionOf((await hold(windows, 10)).killTree());
  expect(error?.message).toContain('process 10: Windows error 258');
  expect(error?.remedy).toContain('protects');
});

test('ignores a process that exits meanwhile', async () => {
  const windows = new FakeProcesses().start(10, 1);
  const held = await hold(windows, 10);
  Object.assign(windows.all[0] ?? {}, { hasExited: true });
  await held.killTree();
  expect(windows.killed).toEqual([]);
});

const names: [name: string, want: number[]][] = [
  ['containerd-shim-runhcs-v1', [11, 12]],
  ['CONTAINERD-SHIM-RUNHCS-V1', [11, 12]],
  ['containerd-shim-runhcs-v1.exe', [11, 12]],
  ['containerd', [13]],
  ['nobody', []],
];
test.each(names)('ends all processes of %s', async (name, want) => {
  const windows = new FakeProcesses()
    .start(11, 1, 'containerd-shim-runhcs-v1.exe')
    .start(12, 1, 'Containerd-Shim-runhcs-v1.EXE')
    .start(13, 1, 'containerd.exe');
  await windows.port.killByName(name);
  expect(windows.killed).toEqual(want);
  expect([windows.open.size, windows.openLists]).toEqual([0, 0]);
});

test('ends no process that has got the number of one it was looking for', async () => {
  const windows = new FakeProcesses().start(11, 1, 'shim.exe', { image: 'other.exe' }).start(12, 1, 'shim.exe');
  await windows.port.killByName('shim');
  expect([windows.killed, windows.open.size]).toEqual([[12], 0]);
});

test('ends no process of which it cannot tell what it is', async () => {
  const windows = new FakeProcesses().start(11, 1, 'shim.exe');
  windows.failing = { QueryFullProcessImageNameW: 31 };
  await windows.port.killByName('shim');
  expect(windows.killed).toEqual([]);
});

test('ends the others when one of them cannot be ended', async () => {
  const windows = new FakeProcesses().start(11, 1, 'shim.exe', { isProtected: true }).start(12, 1, 'shim.exe');
  const error = await rejectionOf(windows.port.killByName('shim'));
  expect(error?.message).toContain('process 11');
  expect([windows.killed, windows.open.size]).toEqual([[12], 0]);
});

test.each([
  ['kubelet', true],
  ['Kubelet', true],
  ['kube', false],
  ['gone', false],
])('reports whether %s runs', async (name, want) => {
  const windows = new FakeProcesses().start(10, 1, 'kubelet.exe').start(11, 1, 'gone.exe', { hasExited: true });
  expect(await windows.port.isRunning(name)).toBe(want);
  expect(windows.openLists).toBe(0);
});

test('gives the start time of a process, and closes its handle', () => {
  // 2026-01-01T00:00:00.123Z in 100 ns since 1601
  const created = 134_116_992_001_230_000n + 9999n;
  const windows = new FakeProcesses().start(8, 4, 'kubelet.exe', { created });
  expect(windows.port.startedMs(8)).toBe(Date.UTC(2026, 0, 1, 0, 0, 0, 123));
  expect(windows.open.size).toBe(0);
});

test('gives no start time for a process that is gone, has exited, or cannot be opened', async () => {
  const windows = new FakeProcesses().start(8, 4).start(12, 4);
  const held = await hold(windows, 12);
  for (const process of windows.all) process.hasExited = process.pid === 12;
  expect([windows.port.startedMs(16), windows.port.startedMs(12)]).toEqual([undefined, undefined]);
  held.release();
  windows.failing = { OpenProcess: 5 };
  expect(windows.port.startedMs(8)).toBeUndefined();
  windows.failing = { GetProcessTimes: 6 };
  expect(() => windows.port.startedMs(8)).toThrow(expect.objectContaining({ code: 'WINDOWS_CALL_FAILED' }));
  expect(windows.open.size).toBe(0);
});

const failures: [call: string, number: number, act: (windows: FakeProcesses) => Promise<unknown>][] = [
  ['OpenProcess', 5, windows => windows.port.hold(10)],
  ['WaitForSingleObject', 6, async windows => (await hold(windows, 10)).hasExited()],
  ['TerminateProcess', 6, async windows => (await hold(windows, 10)).killTree()],
  ['GetProcessTimes', 6, async windows => (await hold(windows, 10)).killTree()],
  ['CreateToolhelp32Snapshot', 8, windows => windows.port.isRunning('x')],
  ['Process32NextW', 24, windows => windows.port.isRunning('x')],
];
test.each(failures)('passes on that %s fails with %i', async (call, number, act) => {
  const windows = new FakeProcesses().start(10, 1).start(11, 10);
  windows.failing = { [call]: number };
  const error = await rejectionOf(act(windows));
  expect(error?.message).toContain(`${call} failed for`);
  expect(error?.message).toContain(`Windows error ${number}`);
  expect(windows.openLists).toBe(0);
});

test('reads an entry of the list of processes, also one with the longest name', () => {
  const bytes = emptyProcessEntry();
  expect(bytes).toHaveLength(568);
  bytes.writeUInt32LE(4711, 8);
  bytes.writeUInt32LE(815, 32);
  bytes.write('kubelet.exe\0rest', 44, 'utf16le');
  expect(decodeProcessEntry(bytes)).toEqual({ pid: 4711, parentPid: 815, program: 'kubelet.exe' });
  bytes.write('x'.repeat(260), 44, 'utf16le');
  expect(decodeProcessEntry(bytes).program).toBe('x'.repeat(260));
});

test('finds each child once', () => {
  const entry = (pid: number, parentPid: number) => ({ pid, parentPid, program: 'x' });
  const all = [entry(1, 0), entry(2, 1), entry(3, 2), entry(4, 9)];
  expect(startedBy(new Set([1]), all).map(({ pid }) => pid)).toEqual([2]);
  expect(startedBy(new Set([1, 2]), all).map(({ pid }) => pid)).toEqual([3]);
  expect(startedBy(new Set([1, 2, 3]), all)).toEqual([]);
});

const programs: [path: string, name: string, want: boolean][] = [
  ['C:\\k\\kubelet.exe', 'kubelet', true],
  ['C:\\k\\KUBELET.EXE', 'kubelet', true],
  ['kubelet.exe', 'kubelet.exe', true],
  ['kubelet', 'kubelet', true],
  ['C:\\kubelet\\x.exe', 'kubelet', false],
  ['C:\\k\\kubelet.exe.exe', 'kubelet', false],
  ['', 'kubelet', false],
];
test.each(programs)('%s as %s: %s', (path, name, want) => {
  expect(isProgram(path, name)).toBe(want);
});
