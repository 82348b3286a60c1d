import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { openLocks } from './locks.ts';

const path = 'C:\\Windows\\windows-instance-config-daemon\\lock';

/** Windows with this result of CreateFileW. */
function bench(file: bigint, lastError = 0) {
  const opened: unknown[][] = [];
  const sddl: string[] = [];
  let descriptors = 0;
  const closed: unknown[] = [];
  const koffi = new FakeKoffi({
    ConvertStringSecurityDescriptorToSecurityDescriptorW: (text: string, _: number, out: unknown[]) => {
      sddl.push(text);
      descriptors += 1;
      out[0] = 0x7777n;
      return 1;
    },
    LocalFree: () => {
      descriptors -= 1;
      return null;
    },
    CreateFileW: (...args: unknown[]) => {
      opened.push(args);
      koffi.lastError = lastError;
      return file;
    },
    CloseHandle: (handle: unknown) => closed.push(handle),
    GetFileInformationByHandle: () => 0,
    GetKernelObjectSecurity: () => 0,
    SetKernelObjectSecurity: () => 0,
  });
  return { locks: openLocks(koffi), opened, sddl, closed, leaked: () => descriptors };
}

test('opens the file for this process alone, creates it for administrators, and no child inherits it', async () => {
  const { locks, opened, sddl, closed, leaked } = bench(0x55n);
  const held = await locks.tryLock(path);
  const [name, access, share, security, disposition, flags] = opened[0] as [
    string,
    number,
    number,
    Buffer,
    number,
    number,
  ];
  expect([name, access, share, disposition, flags]).toEqual([`\\\\?\\${path}`, 0x4000_0000, 0, 4, 0x20_0080]);
  const inherits = security.readUInt32LE(16);
  expect([security.readUInt32LE(0), security.readBigUInt64LE(8), inherits]).toEqual([24, 0x7777n, 0]);
  expect(sddl).toEqual(['O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)']);
  expect([closed, leaked()]).toEqual([[], 0]);
  held?.[Symbol.dispose]();
  expect(closed).toEqual([0x55n]);
});

test('gives no lock while another process has it', async () => {
  const { locks, leaked } = bench(0xffff_ffff_ffff_ffffn, 32);
  expect([await locks.tryLock(path), leaked()]).toEqual([undefined, 0]);
});

test('fails for any other reason', async () => {
  const { locks, leaked } = bench(0xffff_ffff_ffff_ffffn, 5);
  await expect(locks.tryLock(path)).rejects.toMatchObject({ code: 'WINDOWS_ACCESS_DENIED' });
  expect(leaked()).toBe(0);
});
