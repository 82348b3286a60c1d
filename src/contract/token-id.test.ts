import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tokenIdOf, writesTokenIds } from './token-id.ts';

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: unknown) => `${encode({ alg: 'RS256' })}.${encode(claims)}.c2lnbmF0dXJl`;
const id = '0b6b9a5e-1c1f-4c8e-9b5f-3f6f4f1f2a3b';

const tokens: [what: string, token: string, want: string | undefined][] = [
  ['has its id in the form of the server', token({ jti: id }), `JTI=${id}`],
  ['of a cluster before 1.30 has none', token({ sub: 'x' }), undefined],
  ['with an id that is no text has none', token({ jti: 7 }), undefined],
  ['with an empty id has none', token({ jti: '' }), undefined],
  ['with an id that would be two in the list has none', token({ jti: 'a,JTI=b' }), undefined],
  ['whose claims are a list has none', token(['jti']), undefined],
  ['whose claims are nothing has none', token(null), undefined],
  ['that is no JWT has none', 'opaque', undefined],
  ['with a part too few has none', `${encode({})}.${encode({ jti: id })}`, undefined],
  ['with a part too many has none', `${token({ jti: id })}.x`, undefined],
  ['that is empty has none', '', undefined],
  ['that is not base64 has none', 'a.!!!.c', undefined],
  ['that is no UTF-8 has none', 'a._w.c', undefined],
  ['that is far too long has none', token({ jti: id, pad: 'x'.repeat(70_000) }), undefined],
];
for (const [what, text, want] of tokens) test(`a token ${what}`, () => expect(tokenIdOf(text)).toBe(want));

test('tokenIdOf does not throw for any token', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map(body => `a.${body}.c`),
        fc.json().map(token),
      ),
      text => {
        expect(tokenIdOf(text) ?? 'JTI=').toMatch(/^JTI=/);
      },
    ),
    { numRuns: 2000 },
  );
});

const servers: [version: string, want: boolean][] = [
  ['v1.30.0', true],
  ['v1.36.4', true],
  ['v1.100.0', true],
  ['v2.0.0', true],
  ['v1.30.0-rc.1+k3s1', true],
  ['v1.29.9', false],
  ['v1.20.2', false],
  ['v1.3', false],
  ['v0.30.0', false],
  ['1.30.0', false],
  ['', false],
];
for (const [version, want] of servers) {
  test(`a server of version ${version || '(none)'} writes ${want ? 'ids' : 'no ids'} of tokens`, () =>
    expect(writesTokenIds(version)).toBe(want));
}
