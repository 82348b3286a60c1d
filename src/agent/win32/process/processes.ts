import type { HeldProcess, Processes } from '../../ports.ts';
import { type Bound, bindChecked, callOnThread, type Koffi } from '../native.ts';
import { processCalls } from './calls.ts';
import { enablePrivilege } from './privileges.ts';
import { decodeProcessEntry, emptyProcessEntry, isProgram, type ProcessEntry, startedBy } from './process-records.ts';
import { win32, windowsError } from '../win32-errors.ts';

export interface WindowsProcesses extends Processes {
  isRunning(name: string): Promise<boolean>;
  /** Start time in milliseconds since 1970; undefined when the process does not exist or cannot be opened. */
  startedMs(pid: number): number | undefined;
}

/** The processes of this host. */
export function openProcesses(koffi: Koffi): WindowsProcesses {
  const windows = bindChecked(koffi, processCalls);
  return {
    hold: async pid => hold(windows, pid),
    killByName: name => killByName(windows, name),
    isRunning: async name => listProcesses(windows).some(entry => isProgram(entry.program, name)),
    startedMs: pid => startedMs(windows, pid),
  };
}

type Windows = Bound<keyof typeof processCalls>;

type Handle = bigint;

/** A process with an open handle: while it is open Windows does not reuse the PID. */
interface Opened {
  pid: number;
  handle: Handle;
}

/** SYNCHRONIZE, PROCESS_QUERY_LIMITED_INFORMATION and PROCESS_TERMINATE */
const rights = 0x10_0000 | 0x1000 | 0x1;
const lookRights = 0x10_0000 | 0x1000;
const killedExitCode = 1;
/** Children that are started meanwhile are found in the next round. */
const maxRounds = 10;
const endLimitMs = 5000;

function hold(windows: Windows, pid: number): HeldProcess | undefined {
  const opened = open(windows, pid);
  if (opened === undefined) return undefined;
  let released = false;
  return {
    hasExited: async () => hasExited(windows, opened),
    killTree: () => killTree(windows, opened),
    release: () => {
      if (!released) windows.call.CloseHandle(opened.handle);
      released = true;
    },
  };
}

/** Undefined when the process has exited. */
function open(windows: Windows, pid: number): Opened | undefined {
  const tryOpen = () => windows.call.OpenProcess(rights, 0, pid) as Handle | null;
  let [handle, number] = [tryOpen(), windows.lastError()];
  if (handle === null && number === win32.accessDenied && enablePrivilege(windows.koffi, 'SeDebugPrivilege')) {
    [handle, number] = [tryOpen(), windows.lastError()];
  }
  if (handle !== null) return { pid, handle };
  if (number === win32.invalidParameter) return undefined;
  throw windowsError('OpenProcess', `process ${pid}`, number);
}

function hasExited(windows: Windows, { handle, pid }: Opened): boolean {
  const signalled = 0;
  const result = windows.call.WaitForSingleObject(handle, 0);
  if (result !== signalled && result !== win32.timedOut) {
    throw windows.failure('WaitForSingleObject', `process ${pid}`);
  }
  return result === signalled;
}

/**
 * Ends parents before children, so that no new ones are started. All handles stay open until the end, so that no PID is
 * reused meanwhile.
 */
async function killTree(windows: Windows, root: Opened): Promise<void> {
  const tree = [root];
  try {
    for (let [round, ended] = [0, 0]; round < maxRounds && ended < tree.length; round++) {
      const members = tree.slice(ended);
      ended = tree.length;
      for (const member of members) terminate(windows, member);
      openChildren(windows, tree);
    }
    for (const member of tree) await waitForEnd(windows, member);
  } finally {
    for (const { handle } of tree.slice(1)) windows.call.CloseHandle(handle);
  }
}

/** Adds the missing children of all processes of the tree. */
function openChildren(windows: Windows, tree: Opened[]): void {
  const members = new Map(tree.map(member => [member.pid, member]));
  for (const { pid, parentPid } of startedBy(new Set(members.keys()), listProcesses(windows))) {
    const [child, parent] = [open(windows, pid), members.get(parentPid)];
    if (child === undefined || parent === undefined) continue;
    // One that is older than its parent was started by an earlier process with that PID.
    const isChild = creationTime(windows, child) >= creationTime(windows, parent);
    if (isChild) tree.push(child);
    else windows.call.CloseHandle(child.handle);
  }
}

function creationTime(windows: Windows, { handle, pid }: Opened): bigint {
  const [created, other] = [Buffer.alloc(8), Buffer.alloc(24)];
  const [exited, kernel, user] = [other, other.subarray(8), other.subarray(16)];
  windows.check('GetProcessTimes', `process ${pid}`, handle, created, exited, kernel, user);
  return created.readBigUInt64LE();
}

/** Windows counts in 100 ns since 1601. */
const [ticksPerMs, ticksUntil1970] = [10_000n, 116_444_736_000_000_000n];

function startedMs(windows: Windows, pid: number): number | undefined {
  const handle = windows.call.OpenProcess(lookRights, 0, pid) as Handle | null;
  if (handle === null) return undefined;
  try {
    // An exited process keeps its PID while another program has a handle to it.
    if (hasExited(windows, { pid, handle })) return undefined;
    return Number((creationTime(windows, { pid, handle }) - ticksUntil1970) / ticksPerMs);
  } finally {
    windows.call.CloseHandle(handle);
  }
}

function terminate(windows: Windows, process: Opened): void {
  if (windows.call.TerminateProcess(process.handle, killedExitCode)) return;
  const number = windows.lastError();
  // Windows also denies access to a process that is exiting.
  if (number === win32.accessDenied || hasExited(windows, process)) return;
  throw windowsError('TerminateProcess', `process ${process.pid}`, number);
}

/** Its files stay locked until it has exited. */
async function waitForEnd(windows: Windows, process: Opened): Promise<void> {
  if (hasExited(windows, process)) return;
  await callOnThread(windows.call.WaitForSingleObject, process.handle, endLimitMs);
  if (!hasExited(windows, process)) throw windowsError('TerminateProcess', `process ${process.pid}`, win32.timedOut);
}

async function killByName(windows: Windows, name: string): Promise<void> {
  const found = listProcesses(windows).filter(entry => isProgram(entry.program, name));
  const results = await Promise.allSettled(found.map(({ pid }) => killIfProgram(windows, pid, name)));
  const failed = results.find(result => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function killIfProgram(windows: Windows, pid: number, name: string): Promise<void> {
  const process = open(windows, pid);
  if (process === undefined) return;
  try {
    if (!isProgram(programPath(windows, process), name)) return;
    terminate(windows, process);
    await waitForEnd(windows, process);
  } finally {
    windows.call.CloseHandle(process.handle);
  }
}

/** '' when it has exited. */
function programPath(windows: Windows, { handle }: Opened): string {
  const text = Buffer.alloc(2 * 32_768);
  const length = [text.length / 2];
  const done = windows.call.QueryFullProcessImageNameW(handle, 0, text, length);
  return done ? text.toString('utf16le', 0, 2 * (length[0] ?? 0)) : '';
}

function listProcesses(windows: Windows): ProcessEntry[] {
  const [allProcesses, failed] = [0x2, 0xffff_ffff_ffff_ffffn];
  const snapshot = windows.call.CreateToolhelp32Snapshot(allProcesses, 0);
  if (snapshot === failed) throw windows.failure('CreateToolhelp32Snapshot', 'all processes');
  try {
    const bytes = emptyProcessEntry();
    const entries: ProcessEntry[] = [];
    let found = windows.call.Process32FirstW(snapshot, bytes);
    while (found) {
      entries.push(decodeProcessEntry(bytes));
      found = windows.call.Process32NextW(snapshot, bytes);
    }
    const number = windows.lastError();
    if (number !== win32.noMoreFiles) throw windowsError('Process32NextW', 'all processes', number);
    return entries;
  } finally {
    windows.call.CloseHandle(snapshot);
  }
}
