import { administratorCalls } from './administrator-calls.ts';
import { bind, type Koffi, openLastError } from '../native.ts';
import { windowsError } from '../win32-errors.ts';

const administrators = 26;
const maxSidBytes = 68;

/** Tells whether this process has the rights of an administrator, and not merely the membership of one. */
export function openAdministratorCheck(koffi: Koffi): () => boolean {
  const calls = bind(koffi, administratorCalls);
  const lastError = openLastError(koffi);
  return () => {
    const [sid, isMember] = [Buffer.alloc(maxSidBytes), [0]];
    if (calls.CreateWellKnownSid(administrators, null, sid, [maxSidBytes]) === 0) {
      throw windowsError('CreateWellKnownSid', 'the group of administrators', lastError());
    }
    if (calls.CheckTokenMembership(null, sid, isMember) === 0) {
      throw windowsError('CheckTokenMembership', 'the group of administrators', lastError());
    }
    return isMember[0] !== 0;
  };
}
