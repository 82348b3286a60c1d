import { type Descriptor, parseDescriptor } from '../../access/descriptor.ts';
import { type Access, type FileEntry, sddlOf } from '../../access/plan.ts';
import { aclCalls } from './calls.ts';
import { type Bound, bindChecked, type Koffi } from '../native.ts';
import { enablePrivilege } from '../process/privileges.ts';
import { win32, windowsError } from '../win32-errors.ts';

/** Type, owner and rights of files and directories. Links are never followed. */
export interface FileAccess {
  /** Undefined when the path does not exist. */
  inspect(path: string): FileEntry | undefined;
  /** Changes this entry alone; fails for a link. */
  protect(path: string, access: Access): void;
}

type Handle = bigint;

type Windows = Bound<keyof typeof aclCalls>;

const invalidHandle = 0xffff_ffff_ffff_ffffn;
const shareAll = 0x7;
const openExisting = 3;
/** FILE_FLAG_BACKUP_SEMANTICS, which directories need, and FILE_FLAG_OPEN_REPARSE_POINT */
const itself = 0x200_0000 | 0x20_0000;
const [readAttributes, readControl, writeDac, writeOwner] = [0x80, 0x2_0000, 0x4_0000, 0x8_0000];
/** OWNER and DACL; on writes also PROTECTED_DACL, which stops inheritance. */
const [parts, protectedList] = [0x1 | 0x4, 0x8000_0000];
const [directoryAttribute, linkAttribute] = [0x10, 0x400];
const informationBytes = 52;
const namesAt = 40;
/** An access list has at most 64 KiB. */
const descriptorBytes = 0x1_1000;
const revision = 1;

/** With these an administrator can also inspect and take over files that deny access. */
const privileges = ['SeBackupPrivilege', 'SeRestorePrivilege', 'SeTakeOwnershipPrivilege'];

export function openFileAccess(koffi: Koffi): FileAccess {
  const windows = bindChecked(koffi, aclCalls);
  let isPrivileged = false;
  const prepare = () => {
    if (!isPrivileged) for (const name of privileges) enablePrivilege(koffi, name);
    isPrivileged = true;
  };
  return {
    inspect(path) {
      prepare();
      return withFile(windows, path, readAttributes | readControl, file => entryOf(windows, path, file));
    },
    protect(path, access) {
      prepare();
      const rights = readAttributes | readControl | writeDac | writeOwner;
      const done = withFile(windows, path, rights, file => setRights(windows, path, file, access));
      if (done === undefined) throw windowsError('CreateFileW', path, win32.fileNotFound);
    },
  };
}

/** Undefined when the path does not exist. */
function withFile<T>(windows: Windows, path: string, rights: number, act: (file: Handle) => T): T | undefined {
  const { call, lastError } = windows;
  // Without the prefix Windows strips trailing spaces and dots, and would open another file.
  const whole = `\\\\?\\${path}`;
  const file = call.CreateFileW(whole, rights, shareAll, null, openExisting, itself, null) as Handle;
  if (file === invalidHandle) {
    const number = lastError();
    if (number === win32.fileNotFound || number === win32.pathNotFound) return undefined;
    throw windowsError('CreateFileW', path, number);
  }
  try {
    return act(file);
  } finally {
    call.CloseHandle(file);
  }
}

function entryOf(windows: Windows, path: string, file: Handle): FileEntry {
  const { attributes, names } = informationOf(windows, path, file);
  if ((attributes & linkAttribute) !== 0) return { is: 'link' };
  const is = (attributes & directoryAttribute) === 0 ? 'file' : 'directory';
  return { is, names, access: knownOwner(readDescriptor(windows, path, file)) };
}

function informationOf({ check }: Windows, path: string, file: Handle) {
  const bytes = Buffer.alloc(informationBytes);
  check('GetFileInformationByHandle', path, file, bytes);
  return { attributes: bytes.readUInt32LE(0), names: bytes.readUInt32LE(namesAt) };
}

function readDescriptor({ check }: Windows, path: string, file: Handle): Descriptor {
  const bytes = Buffer.alloc(descriptorBytes);
  const needed = [0];
  check('GetKernelObjectSecurity', path, file, parts, bytes, bytes.length, needed);
  try {
    return parseDescriptor(bytes.subarray(0, needed[0]));
  } catch {
    throw windowsError('GetKernelObjectSecurity', path, win32.invalidDescriptor);
  }
}

/** Wine has no file owners and reports a user of a domain that cannot exist. */
function knownOwner(descriptor: Descriptor): Descriptor | 'unreadable' {
  return /^S-1-5-21-0-0-0-\d+$/.test(descriptor.owner) ? 'unreadable' : descriptor;
}

function setRights(windows: Windows, path: string, file: Handle, access: Access): true {
  const { call, check } = windows;
  if ((informationOf(windows, path, file).attributes & linkAttribute) !== 0) {
    throw windowsError('SetKernelObjectSecurity', path, win32.isLink);
  }
  const descriptor: [unknown] = [null];
  const sddl = sddlOf(access);
  check('ConvertStringSecurityDescriptorToSecurityDescriptorW', path, sddl, revision, descriptor, null);
  try {
    check('SetKernelObjectSecurity', path, file, parts + protectedList, descriptor[0]);
    return true;
  } finally {
    call.LocalFree(descriptor[0]);
  }
}
