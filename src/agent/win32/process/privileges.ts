import { bindChecked, type Koffi } from '../native.ts';
import { privilegeCalls } from './calls.ts';

/** Enables a privilege of this process, such as `SeDebugPrivilege`; false when its account does not have it. */
export function enablePrivilege(koffi: Koffi, name: string): boolean {
  const { call, lastError } = bindChecked(koffi, privilegeCalls);
  const state = Buffer.alloc(16);
  if (!call.LookupPrivilegeValueW(null, name, state.subarray(4))) return false;
  const token: [unknown] = [null];
  if (!call.OpenProcessToken(call.GetCurrentProcess(), tokenRights, token)) return false;
  try {
    // TOKEN_PRIVILEGES with one element.
    state.writeUInt32LE(1, 0);
    state.writeUInt32LE(enabled, 12);
    const done = call.AdjustTokenPrivileges(token[0], 0, state, state.length, null, null);
    // It succeeds even when it has enabled nothing; only the error number shows that.
    return Boolean(done) && lastError() !== notAllAssigned;
  } finally {
    call.CloseHandle(token[0]);
  }
}

/** TOKEN_ADJUST_PRIVILEGES and TOKEN_QUERY */
const tokenRights = 0x20 | 0x8;
const enabled = 0x2;
const notAllAssigned = 1300;
