import { aclCalls } from './calls/acl.ts';
import { bind, type Koffi, openLastError } from './native.ts';
import { windowsError } from './win32-errors.ts';

/**
 * Leaves a file, or a directory and what is and will be in it, to SYSTEM and Administrators. Programs may still be read and
 * run by everybody, but nobody else may put a library beside them.
 */
export type Protect = (path: string, kind: 'secret' | 'programs') => void;

/**
 * Owned by Administrators, since an owner may always change the rights; nothing is inherited from above (P), and what is
 * below inherits this (OI, CI); all rights (FA) for SYSTEM (SY) and Administrators (BA), reading and running for Users (BU).
 */
const owners = 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)';
const rights = { secret: owners, programs: `${owners}(A;OICI;0x1200a9;;;BU)` };
const [revision, fileObject] = [1, 1];
/** Owner, list, and that the list is protected from what is inherited. */
const changedParts = 0x1 + 0x4 + 0x80_00_00_00;

export function openProtection(koffi: Koffi): Protect {
  const calls = bind(koffi, aclCalls);
  const lastError = openLastError(koffi);
  return (path, kind) => {
    const descriptor = [null];
    if (calls.ConvertStringSecurityDescriptorToSecurityDescriptorW(rights[kind], revision, descriptor, null) === 0) {
      throw windowsError('ConvertStringSecurityDescriptorToSecurityDescriptorW', path, lastError());
    }
    try {
      const [owner, list] = [[null], [null]];
      if (calls.GetSecurityDescriptorOwner(descriptor[0], owner, [0]) === 0) {
        throw windowsError('GetSecurityDescriptorOwner', path, lastError());
      }
      if (calls.GetSecurityDescriptorDacl(descriptor[0], [0], list, [0]) === 0) {
        throw windowsError('GetSecurityDescriptorDacl', path, lastError());
      }
      const result = calls.SetNamedSecurityInfoW(path, fileObject, changedParts, owner[0], null, list[0], null);
      if (result !== 0) throw windowsError('SetNamedSecurityInfoW', path, Number(result));
    } finally {
      calls.LocalFree(descriptor[0]);
    }
  };
}
