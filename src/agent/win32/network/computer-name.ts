import { AppError } from '#base/errors.ts';
import { computerNameCalls } from './computer-name-calls.ts';
import { bind, type Koffi, type NativeFunction, openLastError } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';

/** The names of the machine itself, not of a failover cluster it may belong to. */
export interface ComputerName {
  hostName(): string;
  /** With the primary DNS suffix, where there is one. */
  fqdn(): string;
  /** Takes effect at the next boot. Refuses a member of a domain, whose account there has to be renamed by the domain. */
  set(name: string): void;
}

interface Calls extends Record<keyof typeof computerNameCalls, NativeFunction> {
  lastError: () => number;
}

const format = { physicalHostName: 5, physicalFqdn: 7 } as const;
const joinedToDomain = 3;
/** The service that a domain needs does not run. */
const workstationNotStarted = 2138;

export function openComputerName(koffi: Koffi): ComputerName {
  const calls: Calls = { ...bind(koffi, computerNameCalls), lastError: openLastError(koffi) };
  return {
    hostName: () => readName(calls, format.physicalHostName),
    fqdn: () => readName(calls, format.physicalFqdn),
    set(name) {
      if (isInDomain(calls)) throw inDomain(name);
      if (calls.SetComputerNameExW(format.physicalHostName, name) !== 0) return;
      throw windowsError('SetComputerNameExW', `the name ${name}`, calls.lastError());
    },
  };
}

function readName(calls: Calls, which: number): string {
  for (let size = 256; ; ) {
    const [text, length] = [Buffer.alloc(2 * size), [size]];
    const done = calls.GetComputerNameExW(which, text, length) !== 0;
    if (done) return text.toString('utf16le', 0, 2 * (length[0] ?? 0));
    const error = calls.lastError();
    if (error !== win32.moreData || (length[0] ?? 0) <= size) {
      throw windowsError('GetComputerNameExW', 'the host', error);
    }
    size = length[0] ?? 0;
  }
}

function isInDomain(calls: Calls): boolean {
  const [name, status] = [[null], [0]];
  const result = Number(calls.NetGetJoinInformation(null, name, status));
  if (result === workstationNotStarted) return false;
  if (result !== 0) throw windowsError('NetGetJoinInformation', 'the host', result);
  if (name[0] !== null) calls.NetApiBufferFree(name[0]);
  return status[0] === joinedToDomain;
}

function inDomain(name: string): AppError {
  return new AppError('HOST_NAME_UNCHANGEABLE', `the host cannot be renamed to ${name}: it is member of a domain`, {
    remedy: 'Rename it with an account of the domain, or give Machines an image that is in no domain.',
  });
}
