import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import { pullSecret } from '../../../../test/kit/mirror-sets.ts';
import { errorOf } from '../../../../test/kit/outcome.ts';
import { readCredentials } from './credentials.ts';

const auth = (login: string) => ({ auth: toBase64(login) });
const read = (auths: Record<string, unknown>) => readCredentials(pullSecret(auths));
const logins = (auths: Record<string, unknown>) => Object.fromEntries(read(auths).byHost);
const bob = 'bob:s3cret';

const good: [name: string, entry: unknown, login: string | undefined][] = [
  ['auth', auth(bob), bob],
  ['user name and password', { username: 'bob', password: 's3cret' }, bob],
  ['auth before user name and password', { ...auth(bob), username: 'eve', password: 'x' }, bob],
  ['user name and password when auth is empty', { auth: '', username: 'bob', password: 's3cret' }, bob],
  ['user name and password when auth is null', { auth: null, username: 'bob', password: 's3cret' }, bob],
  ['a password with colons', auth('bob:a:b:c'), 'bob:a:b:c'],
  ['a password outside of ASCII', auth('bob:gr\u00fc\u00df'), 'bob:gr\u00fc\u00df'],
  ['a user name without a password', auth('token:'), 'token:'],
  ['a user name without a password, unpacked', { username: 'token' }, 'token:'],
  ['members it does not know', { ...auth(bob), email: 'bob@example.com', registrytoken: 'x' }, bob],
  ['a login beside an identity token', { ...auth(bob), identitytoken: 'ey' }, bob],
  ['no login: an identity token alone', { identitytoken: 'ey' }, undefined],
  ['no login: a user name for an identity token', { ...auth('00000000:'), identitytoken: 'ey' }, undefined],
  ['no login: user name and password empty', auth(':'), undefined],
  ['no login: a password without a user name', { password: 's3cret' }, undefined],
  ['no login: an empty entry, as credential helpers leave it', {}, undefined],
  ['no login: null', null, undefined],
];

for (const [name, entry, login] of good) {
  test(`entry: reads ${name}`, () => {
    const { byHost, warnings } = read({ 'quay.io': entry });
    expect(byHost.get('quay.io')).toBe(login === undefined ? undefined : toBase64(login));
    expect(warnings).toEqual([]);
  });
}

test('entry: auth may lack its padding and have a line end', () => {
  for (const login of ['a:b', 'a:bc', 'a:bcd', 'a:bcde']) {
    const padded = toBase64(login);
    expect(logins({ 'quay.io': { auth: `${padded.replaceAll('=', '')}\n` } })).toEqual({ 'quay.io': padded });
  }
});

test('entry: a password that is no UTF-8 is passed on byte by byte', () => {
  const packed = toBase64(new Uint8Array([0x62, 0x3a, 0xff, 0xfe]));
  expect(logins({ 'quay.io': { auth: packed } })).toEqual({ 'quay.io': packed });
});

const secretText = 'SuperS3cretValue';
const bad: [name: string, entry: unknown][] = [
  ['auth that is not base64', { auth: `!!${secretText}!!` }],
  ['auth without a colon', auth(secretText)],
  ['auth that is a number', { auth: 7, password: secretText }],
  ['a password that is a list', { username: 'bob', password: [secretText] }],
  ['a user name that is an object', { username: { name: secretText } }],
  ['an entry that is a text', secretText],
  ['an entry that is a list', [secretText]],
  ['an entry that is a number', 7],
];

for (const [name, entry] of bad) {
  test(`entry: warns about ${name}, shows nothing of it and reads the others`, () => {
    const { byHost, warnings } = read({ 'a.io': auth(bob), 'bad.io': entry, 'z.io': auth(bob) });
    expect([...byHost.keys()]).toEqual(['a.io', 'z.io']);
    expect(warnings).toHaveLength(1);
    const [warning] = warnings;
    expect(warning?.code).toBe('PULL_SECRET_MALFORMED');
    expect(warning?.message).toContain('"bad.io"');
    expect(warning?.remedy).toContain('bad.io');
    expect(`${warning?.message} ${warning?.remedy} ${JSON.stringify(warning?.cause)}`).not.toContain(secretText);
  });
}

test('entry: a login in the key itself is not shown', () => {
  const { warnings } = read({ [`https://bob:${secretText}@quay.io/v2/`]: 'nonsense' });
  expect(warnings[0]?.message).toContain('"quay.io"');
  expect(`${warnings[0]?.message} ${warnings[0]?.remedy}`).not.toContain(secretText);
});

const keys: [key: string, host: string][] = [
  ['quay.io', 'quay.io'],
  ['mirror.corp:5000', 'mirror.corp:5000'],
  ['https://quay.io', 'quay.io'],
  ['http://quay.io', 'quay.io'],
  ['HTTPS://Quay.IO/', 'quay.io'],
  ['https://mirror.corp:5000/v2/', 'mirror.corp:5000'],
  ['quay.io/team', 'quay.io'],
  ['https://quay.io/team/app', 'quay.io'],
  ['docker.io', 'docker.io'],
  ['index.docker.io', 'docker.io'],
  ['registry-1.docker.io', 'docker.io'],
  ['https://index.docker.io/v1/', 'docker.io'],
  ['https://index.docker.io/v1/access-token', 'docker.io'],
  ['auth.docker.io', 'auth.docker.io'],
];

for (const [key, host] of keys) {
  test(`key: ${key} is the registry ${host}`, () =>
    expect(logins({ [key]: auth(bob) })).toEqual({ [host]: toBase64(bob) }));
}

const choices: [name: string, keys: string[], winner: string][] = [
  ['the plain host over a URL', ['https://quay.io', 'quay.io'], 'quay.io'],
  ['the plain host over a path', ['quay.io/team', 'quay.io'], 'quay.io'],
  ['a URL over a path', ['quay.io/team', 'https://quay.io'], 'https://quay.io'],
  ['the path of the protocol over another path', ['quay.io/a', 'https://quay.io/v2/'], 'https://quay.io/v2/'],
  ['the first path in byte order', ['quay.io/b', 'quay.io/a'], 'quay.io/a'],
  ['docker.io over the old name', ['https://index.docker.io/v1/', 'docker.io'], 'docker.io'],
  [
    'the old name of Docker Hub over a path',
    ['docker.io/team', 'https://index.docker.io/v1/'],
    'https://index.docker.io/v1/',
  ],
];

for (const [name, given, winner] of choices) {
  test(`key: prefers ${name}, in whatever order they come`, () => {
    for (const order of [given, given.toReversed()]) {
      const found = logins(Object.fromEntries(order.map(key => [key, auth(`user:${key}`)])));
      expect(Object.values(found)).toEqual([toBase64(`user:${winner}`)]);
    }
  });
}

test('key: an entry without a login leaves the place to the next', () => {
  expect(logins({ 'quay.io': {}, 'https://quay.io': auth(bob) })).toEqual({ 'quay.io': toBase64(bob) });
  expect(logins({ 'quay.io': 'broken', 'quay.io/team': auth(bob) })).toEqual({ 'quay.io': toBase64(bob) });
});

test.each(['{}', '{"auths":{}}', '{"auths":null}', '{"credHelpers":{"gcr.io":"gcloud"}}', 'null'])(
  'pull secret %s has no login',
  text => {
    const { byHost, warnings } = readCredentials(new Secret(text));
    expect([byHost.size, warnings]).toEqual([0, []]);
  },
);

test.each(['', 'not json', '{"auths":', '[]', '"text"', '7', '{"auths":[]}', `{"auths":"${secretText}"}`, secretText])(
  'pull secret %j is refused as a whole',
  text => {
    const error = errorOf(() => readCredentials(new Secret(text)));
    expect(error?.code).toBe('PULL_SECRET_MALFORMED');
    expect(error?.message).toContain('pull secret: .dockerconfigjson');
    expect(error?.remedy).toContain('openshift-config/pull-secret');
    expect(`${error?.message} ${String(error?.cause)}`).not.toContain(secretText);
  },
);

test('any JSON gives logins, warnings or an AppError, and never shows a value', () => {
  const value = fc.oneof(fc.constant(secretText), fc.jsonValue(), fc.record({ auth: fc.constant(secretText) }));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), auths => {
      const { byHost, warnings } = read(auths);
      for (const login of byHost.values()) expect(login).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
      for (const { message, remedy } of warnings) expect(message + remedy).not.toContain(secretText);
    }),
    { numRuns: 2000 },
  );
});

test('any text gives logins or an AppError', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), text => {
      expect([undefined, 'PULL_SECRET_MALFORMED']).toContain(errorOf(() => readCredentials(new Secret(text)))?.code);
    }),
    { numRuns: 2000 },
  );
});
