import { AppError } from '#base/errors.ts';
import { type Bound, bindChecked, type Koffi } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import { computerNameCalls } from './calls.ts';

/** The names of the machine itself, not of a failover cluster that it may belong to. */
export interface ComputerName {
  hostName(): string;
  /** With the primary DNS suffix, if there is one. */
  fqdn(): string;
  /** Takes effect at the next boot. Rejects a domain member, which only the domain can rename. */
  set(name: string): void;
}

type Windows = Bound<keyof typeof computerNameCalls>;

const format = { physicalHostName: 5, physicalFqdn: 7 } as const;
const joinedToDomain = 3;
/** The Workstation service, which domain members need, does not run. */
const workstationNotStarted = 2138;

export function openComputerName(koffi: Koffi): ComputerName {
  const windows = bindChecked(koffi, computerNameCalls);
  return {
    hostName: () => readName(windows, format.physicalHostName),
    fqdn: () => readName(windows, format.physicalFqdn),
    set(name) {
      if (isInDomain(windows)) throw inDomain(name);
      windows.check('SetComputerNameExW', `the name ${name}`, format.physicalHostName, name);
    },
  };
}

function readName({ call, lastError }: Windows, which: number): string {
  for (let size = 256; ; ) {
    const [text, length] = [Buffer.alloc(2 * size), [size]];
    const done = call.GetComputerNameExW(which, text, length) !== 0;
    if (done) return text.toString('utf16le', 0, 2 * (length[0] ?? 0));
    const error = lastError();
    if (error !== win32.moreData || (length[0] ?? 0) <= size) {
      throw windowsError('GetComputerNameExW', 'the host', error);
    }
    size = length[0] ?? 0;
  }
}

function isInDomain({ call }: Windows): boolean {
  const [name, status] = [[null], [0]];
  const result = Number(call.NetGetJoinInformation(null, name, status));
  if (result === workstationNotStarted) return false;
  if (result !== 0) throw windowsError('NetGetJoinInformation', 'the host', result);
  if (name[0] !== null) call.NetApiBufferFree(name[0]);
  return status[0] === joinedToDomain;
}

function inDomain(name: string): AppError {
  return new AppError('HOST_NAME_UNCHANGEABLE', `the host cannot be renamed to ${name}: it is a member of a domain`, {
    remedy: 'Rename it with a domain account, or use a Machine image that is not joined to a domain.',
  });
}
