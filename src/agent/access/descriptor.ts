/** Owner and access list (DACL) of a file or directory. */
export interface Descriptor {
  /** SID, such as `S-1-5-32-544`. */
  owner: string;
  /** Undefined without an access list, which gives everyone full access. */
  entries: readonly AccessEntry[] | undefined;
}

export interface AccessEntry {
  allows: boolean;
  sid: string;
  /** ACCESS_MASK as an unsigned 32-bit number. */
  mask: number;
  /** Applies to new entries below the directory only, not to the directory itself. */
  inheritOnly: boolean;
}

export const sid = {
  system: 'S-1-5-18',
  administrators: 'S-1-5-32-544',
  users: 'S-1-5-32-545',
  creatorOwner: 'S-1-3-0',
  ownerRights: 'S-1-3-4',
  trustedInstaller: 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
} as const;

export const right = {
  all: 0x1f_01_ff,
  /** Read, list and execute. */
  read: 0x12_00_a9,
  /** Create files and folders. */
  create: 0x6,
  genericAll: 0x10_00_00_00,
  genericRead: 0x80_00_00_00,
  genericExecute: 0x20_00_00_00,
} as const;

const [daclPresent, inheritOnlyFlag] = [0x4, 0x8];
const maxSubAuthorities = 15;
/** Types of entries with a mask and a SID: allowed and denied, plain and conditional. */
const typeAllows: ReadonlyMap<number, boolean> = new Map([
  [0, true],
  [1, false],
  [9, true],
  [10, false],
]);

/** Parses a self-relative SECURITY_DESCRIPTOR. Throws a RangeError when it is truncated or malformed. */
export function parseDescriptor(bytes: Uint8Array): Descriptor {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [control, ownerAt, daclAt] = [view.getUint16(2, true), view.getUint32(4, true), view.getUint32(16, true)];
  const hasList = (control & daclPresent) !== 0 && daclAt !== 0;
  return { owner: readSid(view, ownerAt), entries: hasList ? readEntries(view, daclAt) : undefined };
}

function readEntries(view: DataView, listAt: number): AccessEntry[] {
  const [bytes, count] = [view.getUint16(listAt + 2, true), view.getUint16(listAt + 4, true)];
  if (bytes < 8 || listAt + bytes > view.byteLength) throw new RangeError(`an access list of ${bytes} bytes`);
  const entries: AccessEntry[] = [];
  for (let at = listAt + 8; entries.length < count; ) {
    const size = view.getUint16(at + 2, true);
    if (size < 16) throw new RangeError(`an access entry of ${size} bytes`);
    entries.push(readEntry(view, at));
    at += size;
  }
  return entries;
}

function readEntry(view: DataView, at: number): AccessEntry {
  const allows = typeAllows.get(view.getUint8(at));
  const inheritOnly = (view.getUint8(at + 1) & inheritOnlyFlag) !== 0;
  // An unknown type could allow anything to any user.
  if (allows === undefined) return { allows: true, sid: '', mask: right.all, inheritOnly: false };
  return { allows, sid: readSid(view, at + 8), mask: view.getUint32(at + 4, true), inheritOnly };
}

function readSid(view: DataView, at: number): string {
  const count = view.getUint8(at + 1);
  if (at === 0 || count > maxSubAuthorities) throw new RangeError(`a SID of ${count} parts at ${at}`);
  const authority = view.getUint16(at + 2) * 2 ** 32 + view.getUint32(at + 4);
  const parts = Array.from({ length: count }, (_, index) => view.getUint32(at + 8 + 4 * index, true));
  return ['S', view.getUint8(at), authority, ...parts].join('-');
}
