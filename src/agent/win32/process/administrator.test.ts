import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { openAdministratorCheck } from './administrator.ts';

/** Rights behind the functions of Windows; `failing` names the one that does not work. */
function check({ isMember = 1, failing = '' }): boolean {
  const koffi = new FakeKoffi({
    CreateWellKnownSid: (kind: number, domain: null, sid: Buffer, bytes: number[]) => {
      expect([kind, domain, bytes]).toEqual([26, null, [68]]);
      sid.write('administrators');
      return failing === 'CreateWellKnownSid' ? 0 : 1;
    },
    CheckTokenMembership: (token: null, sid: Buffer, answer: number[]) => {
      expect([token, sid.toString('utf8', 0, 14)]).toEqual([null, 'administrators']);
      answer[0] = isMember;
      return failing === 'CheckTokenMembership' ? 0 : 1;
    },
  });
  koffi.lastError = 5;
  return openAdministratorCheck(koffi)();
}

test('detects an administrator', () => expect(check({})).toBe(true));
test('detects a standard user', () => expect(check({ isMember: 0 })).toBe(false));
test.each(['CreateWellKnownSid', 'CheckTokenMembership'])('reports that %s failed', failing => {
  expect(() => check({ failing })).toThrow(
    expect.objectContaining({ code: 'WINDOWS_ACCESS_DENIED', message: expect.stringContaining(failing) as string }),
  );
});
