import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectNoSecrets, findLeaks, keySecrets, type PlantedSecret } from '../kit/planted-secrets.ts';

/** Tests of the check that all other tests rely on. */

const password = 'correct horse "battery"/staple+1%';
const token = `eyJhbGciOiJSUzI1NiJ9.${randomBytes(60).toString('base64url')}.${randomBytes(90).toString('base64url')}`;
const pemOf = (pair: { privateKey: { export(how: { format: 'pem'; type: 'pkcs8' }): string | Buffer } }) =>
  String(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
const keys = {
  Ed25519: pemOf(generateKeyPairSync('ed25519')),
  'P-256': pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  RSA: pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 })),
};
const planted: PlantedSecret[] = [
  { what: 'password', content: password },
  { what: 'token', content: token },
  ...Object.entries(keys).flatMap(([what, pem]) => keySecrets(what, pem)),
];
const secrets: [what: string, text: string][] = [['password', password], ['token', token], ...Object.entries(keys)];

const wrapped = (text: string, width: number) => text.match(new RegExp(`[^]{1,${width}}`, 'g'))?.join('\n') ?? '';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const bodyOf = (text: string) => text.replaceAll(/-----.*?-----/g, '').trim();

const forms: [name: string, (text: string) => string][] = [
  ['plain', text => text],
  ['in JSON', text => JSON.stringify({ data: text })],
  ['in JSON in JSON', text => JSON.stringify(JSON.stringify({ data: text }))],
  ['in a URL', encodeURIComponent],
  ['in base64', base64],
  ['in base64 behind one byte', text => base64(`x${text}`)],
  ['in base64 behind two bytes', text => base64(`xy${text}yz`)],
  ['in base64 for URLs', text => Buffer.from(text).toString('base64url')],
  ['in base64 of base64', text => base64(base64(text))],
  ['in base64 on lines of 76', text => wrapped(base64(text), 76)],
  ['on lines of 20, indented', text => wrapped(text, 20).replaceAll('\n', '\n    ')],
  ['without its frame', bodyOf],
];
for (const [name, write] of forms) {
  test.each(secrets)(`finds a %s ${name}`, (what, text) => {
    const said = [{ where: 'log', text: `{"message":"Connecting","detail":"${write(text)}"}` }];
    expect(findLeaks(planted, said).map(leak => leak.what)).toContain(what);
  });
}

test.each(secrets)('finds a part of a %s', (what, text) => {
  const body = bodyOf(text).replaceAll('\n', '');
  // The last part of a key may be public.
  const from = Math.floor(body.length * 0.4);
  const said = [{ where: 'status', text: `it said ${body.slice(from, from + 32)}...` }];
  expect(findLeaks(planted, said).map(leak => leak.what)).toContain(what);
});

const looks: [string, string][] = [
  ['a token of another user', '{"token":"eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"}'],
  [
    'one in a Secret',
    JSON.stringify({ data: { token: base64('eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2ln') } }),
  ],
  ['an authorization header', 'headers: { authorization: "Bearer sha256~c0ffee-c0ffee-c0ffee" }'],
  ['one of a proxy', 'Proxy-Authorization: Basic dXNlcjpodW50ZXIyLWh1bnRlcjI='],
  ['a private key of another user', `"-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXktdjEAAAAABG5v"`],
  ['the login of a proxy', 'dialing http://user:hunter2@proxy.example.com:3128 failed'],
];
test.each(looks)('finds %s that was not planted', (_, text) => {
  expect(findLeaks([], [{ where: 'log', text }])).not.toEqual([]);
});

const harmless: [string, string][] = [
  ['a remedy that speaks of keys', 'Give a PEM block -----BEGIN PRIVATE KEY----- as `ssh-keygen -m PEM` writes it.'],
  ['a login that was taken out', 'dialing http://<redacted>@proxy.example.com:3128 failed'],
  ['an address with a port', 'https://10.0.0.1:6443/api and mail to user@example.com'],
  ['paths of Windows', String.raw`{"path":"C:\\k\\new\\bootstrap-kubeconfig","token":"<redacted>"}`],
  [
    'hashes and public keys',
    `ssh-ed25519 ${base64(randomBytes(60).toString('hex'))} SHA256:${randomBytes(32).toString('hex')}`,
  ],
  ['a percent sign', '100 % of 50%zz'],
];
test.each(harmless)('takes %s for what it is', (_, text) => {
  expect(findLeaks(planted, [{ where: 'log', text }])).toEqual([]);
});

test('the public half of a key is no secret', () => {
  for (const pem of Object.values(keys)) {
    const publicKey = createPublicKey(pem).export({ format: 'pem', type: 'spki' });
    expect(findLeaks(keySecrets('key', pem), [{ where: 'certificate', text: publicKey }])).toEqual([]);
  }
});

test('a failure names the secret and its place, but not its value', () => {
  const act = () => expectNoSecrets(planted, [{ where: 'Event default/win-1.17', text: password }]);
  expect(act).toThrow('password, as it is, in Event default/win-1.17');
  expect(act).not.toThrow(/battery/);
});

test('accepts empty output', () => expectNoSecrets(planted, []));
