import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { descriptorBytes } from '../../../../test/kit/descriptor-bytes.ts';
import { sid } from '../../access/descriptor.ts';
import { descriptorOf } from '../../access/plan.ts';
import { openFileAccess } from './acl.ts';

interface Node {
  attributes: number;
  names: number;
  descriptor: Buffer;
}
const entry = (attributes: number, owner: string = sid.administrators): Node => ({
  attributes,
  names: 1,
  descriptor: descriptorBytes({ ...descriptorOf('programs'), owner }),
});
const user = 'S-1-5-21-1-2-3-1001';

/** A disk of entries by path; every call that is not expected fails loudly, because the double has no function for it. */
function bench(disk: Record<string, Node>, failing: Record<string, number> = {}) {
  const said: unknown[][] = [];
  const open = new Map<bigint, string>();
  const nodeOf = (handle: bigint) => disk[open.get(handle) ?? ''] ?? expect.fail('a handle that is not open');
  let allocated = 0;
  const koffi: FakeKoffi = new FakeKoffi({
    LookupPrivilegeValueW: () => 0,
    GetCurrentProcess: () => 1n,
    OpenProcessToken: () => 0,
    AdjustTokenPrivileges: () => 0,
    CreateFileW: (...args: unknown[]) => {
      said.push(['open', ...args]);
      if (fails('CreateFileW')) return 0xffff_ffff_ffff_ffffn;
      const path = String(args[0]).replace('\\\\?\\', '');
      if (disk[path] === undefined) {
        koffi.lastError = 2;
        return 0xffff_ffff_ffff_ffffn;
      }
      const handle = BigInt(0x100 + open.size);
      open.set(handle, path);
      return handle;
    },
    GetFileInformationByHandle: (handle: bigint, bytes: Buffer) => {
      if (fails('GetFileInformationByHandle')) return 0;
      bytes.writeUInt32LE(nodeOf(handle).attributes, 0);
      bytes.writeUInt32LE(nodeOf(handle).names, 40);
      return 1;
    },
    GetKernelObjectSecurity: (...args: unknown[]) => {
      const [handle, parts, bytes, , needed] = args as [bigint, number, Buffer, number, number[]];
      if (fails('GetKernelObjectSecurity')) return 0;
      expect(parts).toBe(5);
      needed[0] = nodeOf(handle).descriptor.copy(bytes);
      return 1;
    },
    ConvertStringSecurityDescriptorToSecurityDescriptorW: (text: string, revision: number, descriptor: unknown[]) => {
      if (fails('ConvertStringSecurityDescriptorToSecurityDescriptorW')) return 0;
      said.push(['descriptor', text, revision]);
      allocated += 1;
      descriptor[0] = 0x1000n;
      return 1;
    },
    SetKernelObjectSecurity: (handle: bigint, parts: number, descriptor: bigint) => {
      if (fails('SetKernelObjectSecurity')) return 0;
      said.push(['set', open.get(handle), parts, descriptor]);
      return 1;
    },
    LocalFree: (memory: bigint) => {
      expect(memory).toBe(0x1000n);
      allocated -= 1;
      return null;
    },
    CloseHandle: (handle: bigint) => (open.delete(handle) ? 1 : 0),
  });
  function fails(call: string): boolean {
    koffi.lastError = failing[call] ?? 0;
    return failing[call] !== undefined;
  }
  return { access: openFileAccess(koffi), said, left: () => [allocated, open.size] };
}

test('opens the entry itself and not what a link leads to, by the very name it has', () => {
  const { access, said, left } = bench({ 'C:\\k\\x .dll.': entry(0x20) });
  expect(access.inspect('C:\\k\\x .dll.')).toEqual({ is: 'file', names: 1, access: descriptorOf('programs') });
  expect(said).toEqual([['open', '\\\\?\\C:\\k\\x .dll.', 0x2_0080, 7, null, 3, 0x220_0000, null]]);
  expect(left()).toEqual([0, 0]);
});

const kinds: [string, Node | undefined, object | undefined][] = [
  ['nothing', undefined, undefined],
  ['a directory', entry(0x10), { is: 'directory' }],
  ['a junction', entry(0x410), { is: 'link' }],
  ['a symbolic link to a file', entry(0x420), { is: 'link' }],
  ['a file with two names', { ...entry(0x20), names: 2 }, { is: 'file', names: 2 }],
  ['a file of a user', entry(0x20, user), { access: { owner: user } }],
  ['a file on Wine, which has no owners', entry(0x20, 'S-1-5-21-0-0-0-1000'), { access: 'unreadable' }],
];
for (const [name, node, want] of kinds) {
  test(`reports ${name} by the handle`, () => {
    const { access, left } = bench(node === undefined ? {} : { 'C:\\k': node });
    if (want === undefined) expect(access.inspect('C:\\k')).toBeUndefined();
    else expect(access.inspect('C:\\k')).toMatchObject(want);
    expect(left()).toEqual([0, 0]);
  });
}

const rights = [
  ['secret', 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'],
  ['programs', 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)'],
  ['shared', 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)(A;CIIO;0x6;;;BU)(A;OICIIO;GA;;;CO)'],
] as const;
for (const [kind, text] of rights) {
  test(`sets owner and protected rights of one entry: ${kind}`, () => {
    const { access, said, left } = bench({ 'C:\\k': entry(0x10, user) });
    access.protect('C:\\k', kind);
    expect(said).toEqual([
      ['open', '\\\\?\\C:\\k', 0xe_0080, 7, null, 3, 0x220_0000, null],
      ['descriptor', text, 1],
      ['set', 'C:\\k', 0x8000_0005, 0x1000n],
    ]);
    expect(left()).toEqual([0, 0]);
  });
}

test('changes neither a link nor its target', () => {
  const { access, said, left } = bench({ 'C:\\k': entry(0x410) });
  expect(() => access.protect('C:\\k', 'programs')).toThrow(/C:\\k: Windows error 4390 \(it is a link\)/);
  expect(said.map(([call]) => call)).toEqual(['open']);
  expect(left()).toEqual([0, 0]);
});

test('rejects what is not there, and a descriptor that cannot be read', () => {
  expect(() => bench({}).access.protect('C:\\k', 'secret')).toThrow(/does not exist/);
  const cut = { ...entry(0x10), descriptor: descriptorBytes(descriptorOf('secret')).subarray(0, 40) };
  expect(() => bench({ 'C:\\k': cut }).access.inspect('C:\\k')).toThrow(/security descriptor is not valid/);
});

test.each([
  'CreateFileW',
  'GetFileInformationByHandle',
  'ConvertStringSecurityDescriptorToSecurityDescriptorW',
  'SetKernelObjectSecurity',
])('reports that %s failed, for which path, and frees what it has', call => {
  const { access, left } = bench({ 'C:\\k': entry(0x10) }, { [call]: 5 });
  expect(() => access.protect('C:\\k', 'secret')).toThrow(
    expect.objectContaining({
      code: 'WINDOWS_ACCESS_DENIED',
      message: expect.stringContaining(`${call} failed for C:\\k`) as string,
    }),
  );
  expect(left()).toEqual([0, 0]);
});

test('reports that owner and rights cannot be read', () => {
  const { access, left } = bench({ 'C:\\k': entry(0x10) }, { GetKernelObjectSecurity: 5 });
  expect(() => access.inspect('C:\\k')).toThrow(/GetKernelObjectSecurity failed for C:\\k/);
  expect(left()).toEqual([0, 0]);
});
