import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { issueServingPair } from '#base/serving-pair.ts';
import { inspectedText } from '../../test/kit/secret-check.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { checkValidity, readTlsPair } from './tls-pair.ts';

const nowMs = Date.UTC(2026, 2, 1);
const dayMs = 86_400_000;
const issue = () =>
  issueServingPair({ commonName: 'x', authorityName: 'ca', dnsNames: ['x.wmco.svc'], nowMs, lifetimeMs: 10 * dayMs });
const [pair, other] = [issue(), issue()];

const secretOf = (data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'tls', namespace: 'wmco' },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, toBase64(text)])),
});
const good = { 'tls.crt': pair.certificate, 'tls.key': pair.key.reveal() };

test('reads names and times of a pair', () => {
  const read = readTlsPair(secretOf(good));
  expect([read.notBeforeMs, read.notAfterMs]).toEqual([nowMs - dayMs, nowMs + 10 * dayMs]);
  expect([read.isFor('x.wmco.svc'), read.isFor('y.wmco.svc')]).toEqual([true, false]);
});

const bad: [name: string, data: Record<string, string>, code: string, message: string][] = [
  ['a Secret without content', {}, 'SECRET_KEY_MISSING', 'tls.crt'],
  ['a half-written Secret', { 'tls.crt': pair.certificate }, 'SECRET_KEY_MISSING', 'tls.key'],
  ['an empty certificate', { ...good, 'tls.crt': '' }, 'TLS_PAIR_INVALID', 'tls.crt is not a PEM certificate'],
  ['an empty key', { ...good, 'tls.key': '' }, 'TLS_PAIR_INVALID', 'tls.key is not a PEM private key'],
  ['a cut key', { ...good, 'tls.key': good['tls.key'].slice(0, 90) }, 'TLS_PAIR_INVALID', 'tls.key is not'],
  ['the key of another pair', { ...good, 'tls.key': other.key.reveal() }, 'TLS_PAIR_INVALID', 'is not the key of'],
];
for (const [name, data, code, message] of bad) {
  test(`reports ${name} without quoting it`, () => {
    const error = errorOf(() => readTlsPair(secretOf(data)));
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(error?.message).toContain('wmco/tls');
    expect(error?.remedy).toContain('wmco/tls');
    for (const line of good['tls.key'].split('\n').slice(1, 2)) expect(inspectedText(error)).not.toContain(line);
  });
}

const times: [name: string, atMs: number, problem: string | undefined][] = [
  ['valid', nowMs, undefined],
  ['valid at its last moment', nowMs + 10 * dayMs, undefined],
  ['expired', nowMs + 11 * dayMs, 'expired at 2026-03-11T00:00:00Z'],
  ['not valid yet', nowMs - 2 * dayMs, 'is not valid before 2026-02-28T00:00:00Z'],
];
for (const [name, atMs, problem] of times) {
  test(`a certificate is ${name}`, () => {
    const error = errorOf(() => checkValidity(readTlsPair(secretOf(good)), 'Secret wmco/tls', atMs));
    expect(error?.code).toBe(problem === undefined ? undefined : 'TLS_PAIR_EXPIRED');
    if (problem !== undefined) expect(error?.message).toContain(problem);
  });
}
