import { sddlOf } from '../../access/plan.ts';
import type { HostLocks } from '../../ports.ts';
import { type Bound, bindChecked, type Koffi } from '../native.ts';
import { win32, windowsError } from '../win32-errors.ts';
import { aclCalls } from './calls.ts';

type Windows = Bound<keyof typeof aclCalls>;

const invalidHandle = 0xffff_ffff_ffff_ffffn;
const genericWrite = 0x4000_0000;
const shareNothing = 0;
const openAlways = 4;
/** FILE_ATTRIBUTE_NORMAL and FILE_FLAG_OPEN_REPARSE_POINT: a link is opened itself, not its target. */
const flags = 0x80 | 0x20_0000;
const revision = 1;
const attributesBytes = 24;
const descriptorAt = 8;

/** A lock is a file that is open for this process alone. Child processes do not inherit it. */
export function openLocks(koffi: Koffi): HostLocks {
  const windows = bindChecked(koffi, aclCalls);
  return {
    tryLock: async path => {
      const handle = openAlone(windows, path);
      return handle === undefined ? undefined : { [Symbol.dispose]: () => void windows.call.CloseHandle(handle) };
    },
  };
}

/** Undefined when another process has it open. Created for administrators: a user who could open it could hold the lock. */
function openAlone(windows: Windows, path: string): bigint | undefined {
  const { call, check, koffi, lastError } = windows;
  const descriptor: [unknown] = [null];
  const sddl = sddlOf('secret');
  check('ConvertStringSecurityDescriptorToSecurityDescriptorW', path, sddl, revision, descriptor, null);
  try {
    const security = Buffer.alloc(attributesBytes);
    security.writeUInt32LE(attributesBytes, 0);
    security.writeBigUInt64LE(koffi.address(descriptor[0]), descriptorAt);
    const whole = `\\\\?\\${path}`;
    const file = call.CreateFileW(whole, genericWrite, shareNothing, security, openAlways, flags, null) as bigint;
    if (file !== invalidHandle) return file;
    const number = lastError();
    if (number === win32.sharingViolation) return undefined;
    throw windowsError('CreateFileW', path, number);
  } finally {
    call.LocalFree(descriptor[0]);
  }
}
