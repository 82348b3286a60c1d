import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { broken, clientClosed, invalidAnswer, requestName, tooLate, unreachable } from './failures.ts';

const coded = (message: string, code: string) => Object.assign(new Error(message), { code });

const names: [string, string, string][] = [
  ['GET', '/api/v1/nodes', 'GET /api/v1/nodes'],
  ['GET', '/api/v1/nodes?labelSelector=a&continue=secret', 'GET /api/v1/nodes'],
  ['POST', '/x?', 'POST /x'],
];
for (const [method, path, want] of names) {
  test(`calls ${method} ${path} by method and path`, () => expect(requestName(method, path)).toBe(want));
}

const unreachables: [string, unknown, string, string][] = [
  [
    'a refused connection',
    coded('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
    'API_UNREACHABLE',
    'connect ECONNREFUSED 127.0.0.1:1',
  ],
  ['an unknown name', coded('getaddrinfo ENOTFOUND x', 'ENOTFOUND'), 'API_UNREACHABLE', 'getaddrinfo ENOTFOUND x'],
  [
    'an unknown CA',
    coded('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'),
    'API_UNTRUSTED',
    'self-signed certificate in certificate chain',
  ],
  [
    'an unknown issuer',
    coded('unable to get local issuer certificate', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'),
    'API_UNTRUSTED',
    'unable to get',
  ],
  [
    'an unverified leaf',
    coded('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    'API_UNTRUSTED',
    'unable to verify',
  ],
  [
    'an expired certificate',
    coded('certificate has expired', 'CERT_HAS_EXPIRED'),
    'API_UNTRUSTED',
    'certificate has expired',
  ],
  [
    'another name',
    coded('Hostname/IP does not match', 'ERR_TLS_CERT_ALTNAME_INVALID'),
    'API_UNTRUSTED',
    'Hostname/IP does not match',
  ],
  [
    'our certificate being refused',
    coded('alert bad certificate', 'ERR_SSL_TLSV1_ALERT_BAD_CERTIFICATE'),
    'API_UNREACHABLE',
    'alert bad',
  ],
  [
    'several addresses that all failed',
    new AggregateError([coded('one', 'X'), coded('two', 'X')], ''),
    'API_UNREACHABLE',
    'one; two',
  ],
  ['nothing that is known', undefined, 'API_UNREACHABLE', 'the connection was closed'],
];
for (const [name, cause, code, words] of unreachables) {
  test(`reports of ${name}`, () => {
    const error = unreachable('https://10.0.0.1:6443', cause);
    expect(error).toMatchObject({ code, remedy: expect.stringMatching(/./) });
    expect(error.cause).toBe(cause);
    expect(error.message).toContain(`https://10.0.0.1:6443: ${words}`);
  });
}

test('reports a lost connection with the innermost cause', () => {
  const error = broken('GET /x', new Error('outer', { cause: new Error('read ECONNRESET') }));
  expect(error).toMatchObject({ code: 'API_CONNECTION_BROKEN', message: 'GET /x: read ECONNRESET' });
});

test('leaves an error of ours as it is', () => {
  const own = new AppError('API_DEADLINE', 'm', { remedy: 'r' });
  expect([unreachable('https://x', own), broken('GET /x', own)]).toEqual([own, own]);
});

const others: [AppError, string, string][] = [
  [invalidAnswer('GET /x', 'the answer is not JSON'), 'API_ANSWER_INVALID', 'GET /x: the answer is not JSON'],
  [tooLate('GET /x', 30_000), 'API_DEADLINE', 'GET /x: no response within 30 s'],
  [clientClosed('GET /x'), 'API_CLIENT_CLOSED', 'GET /x: the client is closed'],
];
for (const [error, code, message] of others) {
  test(`${code} names the request and names the remedy`, () => {
    expect(error).toMatchObject({ code, message, remedy: expect.stringMatching(/\w+ .*\.$/) });
  });
}
