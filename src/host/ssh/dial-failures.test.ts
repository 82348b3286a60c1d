import { expect, test } from 'vitest';
import { messageOf } from '#base/errors.ts';
import { dialFailure, dialTimeout, where } from './dial-failures.ts';

const peer = { address: 'win-1.example', port: 22 };
const systemError = (code: string) => Object.assign(new Error(`connect ${code} 10.1.2.3:22`), { code });

const cases: [systemCode: string, code: string, says: string, remedy: RegExp][] = [
  [
    'ECONNREFUSED',
    'HOST_UNREACHABLE',
    'refuses connections',
    /`Set-Service sshd .*Start-Service sshd; New-NetFirewallRule .* -LocalPort 22 /,
  ],
  [
    'ECONNRESET',
    'HOST_UNREACHABLE',
    'refuses connections',
    /`Set-Service sshd .*Start-Service sshd; New-NetFirewallRule .* -LocalPort 22 /,
  ],
  ['ETIMEDOUT', 'HOST_UNREACHABLE', 'does not answer', /Power the host on.*-LocalPort 22 /],
  ['EHOSTDOWN', 'HOST_UNREACHABLE', 'does not answer', /Power the host on.*-LocalPort 22 /],
  ['EHOSTUNREACH', 'HOST_UNREACHABLE', 'no route to the host', /route/],
  ['ENETUNREACH', 'HOST_UNREACHABLE', 'no route to the host', /route/],
  ['EACCES', 'HOST_UNREACHABLE', 'no route to the host', /firewall/],
  ['EPERM', 'HOST_UNREACHABLE', 'no route to the host', /firewall/],
  ['ENOTFOUND', 'INSTANCE_ADDRESS_UNRESOLVED', 'name does not resolve', /DNS record/],
  ['ENODATA', 'INSTANCE_ADDRESS_UNRESOLVED', 'name does not resolve', /DNS record/],
  ['EAI_AGAIN', 'INSTANCE_ADDRESS_UNRESOLVED', 'name servers do not answer', /name servers/],
  ['EAI_FAIL', 'INSTANCE_ADDRESS_UNRESOLVED', 'name servers do not answer', /name servers/],
  ['EMFILE', 'HOST_UNREACHABLE', 'no free port or file descriptor', /limits/],
  ['EADDRNOTAVAIL', 'HOST_UNREACHABLE', 'no free port or file descriptor', /limits/],
  ['ESTRANGE', 'HOST_UNREACHABLE', 'the connection failed', /network/],
];
for (const [systemCode, code, says, remedy] of cases) {
  test(`${systemCode} is ${code} with a remedy`, () => {
    const cause = systemError(systemCode);
    const error = dialFailure(peer, cause);
    expect(error).toMatchObject({ code, cause, remedy: expect.stringMatching(remedy) as string });
    expect(error.message).toContain('win-1.example: ');
    expect(error.message).toContain(says);
    expect(error.message).toContain(`(${systemCode})`);
  });
}

const oddities: [name: string, thrown: unknown, says: string][] = [
  ['an error without code', new Error('odd'), 'the connection failed ("odd")'],
  ['an error with a number for a code', Object.assign(new Error('odd'), { code: 5 }), '("odd")'],
  ['a text', 'plain text', '("plain text")'],
  ['nothing', undefined, '("undefined")'],
  ['null', null, '("null")'],
];
test.each(oddities)('reports %s', (_, thrown, says) => {
  expect(dialFailure(peer, thrown).code).toBe('HOST_UNREACHABLE');
  expect(dialFailure(peer, thrown).message).toContain(says);
});

test('reports an AggregateError as one failure', () => {
  const both = new AggregateError([systemError('ECONNREFUSED'), systemError('ECONNREFUSED')]);
  expect(dialFailure(peer, Object.assign(both, { code: 'ECONNREFUSED' })).message).toContain('refuses connections');
});

test('dialTimeout names the time limit', () => {
  const error = dialTimeout({ address: '10.1.2.3', port: 2222 }, 10_000);
  expect(error.code).toBe('HOST_UNREACHABLE');
  expect(error.message).toBe('10.1.2.3 port 2222: no answer within 10 s');
  expect(error.remedy).toMatch(/firewall/);
});

test('names the port when it is not 22', () => {
  expect(where({ address: 'a', port: 22 })).toBe('a');
  expect(where({ address: 'a', port: 23 })).toBe('a port 23');
});

test('reports any thrown value with a message', () => {
  expect([new Error('x'), 'y', 3, undefined].map(messageOf)).toEqual(['x', 'y', '3', 'undefined']);
});
