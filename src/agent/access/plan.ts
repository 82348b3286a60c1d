import { type AccessEntry, type Descriptor, right, sid } from './descriptor.ts';

/**
 * Full control is always for SYSTEM and Administrators. `secret`: no access for others. `programs`: Users can read and
 * execute. `shared`: the same for the directory itself, but new entries below it get the default rights of C:\, because
 * pods write there.
 */
export type Access = 'secret' | 'programs' | 'shared';

/** A directory entry itself, never the target of a link. */
export type FileEntry =
  | { is: 'link' }
  | {
      is: 'file' | 'directory';
      /** Number of hard links. */
      names: number;
      /** Unreadable on Wine. */
      access: Descriptor | 'unreadable';
    };

/** What to do about an entry. A reason is a sentence without its subject. */
export type Verdict =
  | { do: 'keep' }
  | { do: 'remove link'; why: string }
  /** An untrusted owner could still change it, also through an open handle, so setting its rights is not enough. */
  | { do: 'move aside'; why: string }
  | { do: 'set rights'; why: string };

export function judge(entry: FileEntry, wanted: Access): Verdict {
  if (entry.is === 'link') return { do: 'remove link', why: 'is a link' };
  if (entry.access === 'unreadable') return { do: 'keep' };
  const { owner } = entry.access;
  if (!isTrusted(owner)) return { do: 'move aside', why: `belongs to ${owner}, not to Administrators or SYSTEM` };
  const why = wrongRights(entry.access, wanted);
  if (why === undefined) return { do: 'keep' };
  // Under its other name it may belong to another program, whose rights must not change.
  return entry.is === 'file' && entry.names > 1 ? { do: 'move aside', why } : { do: 'set rights', why };
}

/** Why users other than administrators can write to it; undefined when they cannot. */
export function whyWritable(entry: FileEntry): string | undefined {
  if (entry.is === 'link') return 'is a link';
  if (entry.access === 'unreadable') return undefined;
  const { owner, entries } = entry.access;
  return isTrusted(owner) ? excessRights(entries, right.read, 'effective') : `belongs to ${owner}`;
}

/** TrustedInstaller owns Windows itself; 500, 512 and 519 are the administrators of a computer, a domain and a forest. */
export function isTrusted(who: string): boolean {
  const known: readonly string[] = [sid.system, sid.administrators, sid.trustedInstaller];
  return known.includes(who) || /^S-1-5-21-\d+-\d+-\d+-(500|512|519)$/.test(who);
}

function wrongRights({ entries }: Descriptor, wanted: Access): string | undefined {
  const scope = wanted === 'shared' ? 'effective' : 'all';
  const problem = excessRights(entries, wanted === 'secret' ? 0 : right.read, scope);
  if (problem !== undefined) return problem;
  const denied = [sid.system, sid.administrators].find(who => !hasAll(entries ?? [], who));
  return denied === undefined ? undefined : `does not give full control to ${denied}`;
}

/** The first entry that gives others than administrators more rights than allowed. */
function excessRights(
  entries: readonly AccessEntry[] | undefined,
  allowed: number,
  scope: 'all' | 'effective',
): string | undefined {
  if (entries === undefined) return 'has no access list';
  const most = allowed === 0 ? 0 : allowed | right.genericRead | right.genericExecute;
  const found = entries.find(
    ({ allows, sid: who, mask, inheritOnly }) =>
      allows &&
      !(inheritOnly && scope === 'effective') &&
      !isTrusted(who) &&
      who !== sid.ownerRights &&
      (mask & ~most) !== 0,
  );
  return found && `gives the rights 0x${found.mask.toString(16)} to ${found.sid || 'an unknown kind of entry'}`;
}

function hasAll(entries: readonly AccessEntry[], who: string): boolean {
  const own = entries.filter(entry => entry.sid === who && !entry.inheritOnly);
  const hasFull = ({ mask }: AccessEntry) => (mask & right.all) === right.all || (mask & right.genericAll) !== 0;
  return own.every(({ allows }) => allows) && own.some(hasFull);
}

/** In SDDL. P blocks inheritance; SY is SYSTEM, BA Administrators, BU Users, CO the creator. */
export function sddlOf(access: Access): string {
  const owners = 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)';
  if (access === 'secret') return owners;
  const programs = `${owners}(A;OICI;0x1200a9;;;BU)`;
  return access === 'programs' ? programs : `${programs}(A;CIIO;0x6;;;BU)(A;OICIIO;GA;;;CO)`;
}

/** The same as a parsed descriptor. */
export function descriptorOf(access: Access): Descriptor {
  const entry = (who: string, mask: number, inheritOnly = false) => ({ allows: true, sid: who, mask, inheritOnly });
  const owners = [entry(sid.system, right.all), entry(sid.administrators, right.all)];
  const readers = [entry(sid.users, right.read)];
  const below = [entry(sid.users, right.create, true), entry(sid.creatorOwner, right.genericAll, true)];
  const entries = {
    secret: owners,
    programs: [...owners, ...readers],
    shared: [...owners, ...readers, ...below],
  };
  return { owner: sid.administrators, entries: entries[access] };
}
