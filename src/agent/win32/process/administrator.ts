import { bindChecked, type Koffi } from '../native.ts';
import { administratorCalls } from './calls.ts';

const administrators = 26;
const maxSidBytes = 68;

/** Checks whether this process has the rights of an administrator, not merely membership in the group. */
export function openAdministratorCheck(koffi: Koffi): () => boolean {
  const { check } = bindChecked(koffi, administratorCalls);
  const group = 'the Administrators group';
  return () => {
    const [sid, isMember] = [Buffer.alloc(maxSidBytes), [0]];
    check('CreateWellKnownSid', group, administrators, null, sid, [maxSidBytes]);
    check('CheckTokenMembership', group, null, sid, isMember);
    return isMember[0] !== 0;
  };
}
