import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../test/kit/fake-koffi.ts';
import { openProtection } from './acl.ts';

function bench(failing: Record<string, number> = {}) {
  const said: unknown[][] = [];
  let allocated = 0;
  const koffi: FakeKoffi = new FakeKoffi({
    ConvertStringSecurityDescriptorToSecurityDescriptorW: (text: string, revision: number, descriptor: unknown[]) => {
      if (fails('ConvertStringSecurityDescriptorToSecurityDescriptorW')) return 0;
      said.push(['descriptor', text, revision]);
      allocated += 1;
      descriptor[0] = 0x1000n;
      return 1;
    },
    GetSecurityDescriptorOwner: (_descriptor: bigint, owner: unknown[]) => {
      owner[0] = 0x1010n;
      return fails('GetSecurityDescriptorOwner') ? 0 : 1;
    },
    GetSecurityDescriptorDacl: (_descriptor: bigint, _present: unknown[], list: unknown[]) => {
      list[0] = 0x1020n;
      return fails('GetSecurityDescriptorDacl') ? 0 : 1;
    },
    SetNamedSecurityInfoW: (...args: unknown[]) => {
      said.push(['set', ...args]);
      return failing.SetNamedSecurityInfoW ?? 0;
    },
    LocalFree: (memory: bigint) => {
      expect(memory).toBe(0x1000n);
      allocated -= 1;
      return null;
    },
  });
  function fails(call: string): boolean {
    koffi.lastError = failing[call] ?? 0;
    return failing[call] !== undefined;
  }
  return { protect: openProtection(koffi), said, allocated: () => allocated };
}

test('leaves a path to SYSTEM and Administrators alone, whatever stands above it', () => {
  const { protect, said, allocated } = bench();
  protect('C:\\k\\secret', 'secret');
  expect(said).toEqual([
    ['descriptor', 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)', 1],
    ['set', 'C:\\k\\secret', 1, 0x8000_0005, 0x1010n, null, 0x1020n, null],
  ]);
  expect(allocated()).toBe(0);
});

test('lets everybody read and run programs, but not put a library beside them', () => {
  const { protect, said } = bench();
  protect('C:\\k', 'programs');
  expect(said[0]).toEqual(['descriptor', 'O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)', 1]);
});

test.each([
  'ConvertStringSecurityDescriptorToSecurityDescriptorW',
  'GetSecurityDescriptorOwner',
  'GetSecurityDescriptorDacl',
  'SetNamedSecurityInfoW',
])('tells that %s failed, for which path, and frees what it has', call => {
  const { protect, allocated } = bench({ [call]: 5 });
  expect(() => protect('C:\\k\\secret', 'secret')).toThrow(
    expect.objectContaining({
      code: 'WINDOWS_ACCESS_DENIED',
      message: expect.stringContaining(`${call} failed for C:\\k\\secret`) as string,
    }),
  );
  expect(allocated()).toBe(0);
});
