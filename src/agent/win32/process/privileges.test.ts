import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { enablePrivilege } from './privileges.ts';

/** The rights of a process behind the functions of Windows. */
class FakeToken {
  readonly enabled: bigint[] = [];
  readonly open = new Set<bigint>();
  failing = '';

  readonly koffi: FakeKoffi = new FakeKoffi({
    GetCurrentProcess: () => 0xffff_ffff_ffff_ffffn,
    LookupPrivilegeValueW: (machine: null, name: string, value: Buffer) => {
      expect(machine).toBeNull();
      value.writeBigUInt64LE(name === 'SeDebugPrivilege' ? 20n : 0n);
      return this.failing === 'LookupPrivilegeValueW' ? 0 : 1;
    },
    OpenProcessToken: (process: bigint, rights: number, token: unknown[]) => {
      expect([process, rights]).toEqual([0xffff_ffff_ffff_ffffn, 0x28]);
      if (this.failing === 'OpenProcessToken') return 0;
      token[0] = 0x77n;
      this.open.add(0x77n);
      return 1;
    },
    AdjustTokenPrivileges: (...args: unknown[]) => {
      const [token, disableAll, state, bytes, before, needed] = args as [bigint, number, Buffer, number, null, null];
      expect([this.open.has(token), disableAll, bytes, before, needed]).toEqual([true, 0, 16, null, null]);
      expect([state.readUInt32LE(0), state.readUInt32LE(12)]).toEqual([1, 2]);
      this.koffi.lastError = this.failing === 'not held' ? 1300 : 0;
      if (this.failing === '') this.enabled.push(state.readBigUInt64LE(4));
      return this.failing === 'AdjustTokenPrivileges' ? 0 : 1;
    },
    CloseHandle: (token: bigint) => Number(this.open.delete(token)),
  });
}

test('turns a privilege on', () => {
  const token = new FakeToken();
  expect(enablePrivilege(token.koffi, 'SeDebugPrivilege')).toBe(true);
  expect([token.enabled, token.open.size]).toEqual([[20n], 0]);
});

test.each(['LookupPrivilegeValueW', 'OpenProcessToken', 'AdjustTokenPrivileges', 'not held'])(
  'fails quietly: %s',
  failing => {
    const token = Object.assign(new FakeToken(), { failing });
    expect(enablePrivilege(token.koffi, 'SeDebugPrivilege')).toBe(false);
    expect([token.enabled, token.open.size]).toEqual([[], 0]);
  },
);
