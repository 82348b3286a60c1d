import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import { errorOf, within } from '../../../test/kit/outcome.ts';
import { type Kubeconfig, onlyServer, parseKubeconfig, resolveContext } from './kubeconfig.ts';

const pem = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';

/** As the operator writes it for the agent: JSON without apiVersion and kind. */
const agentConfig = {
  clusters: [
    {
      name: 'local',
      cluster: { server: 'https://api-int.example.com:6443', 'certificate-authority-data': toBase64(pem) },
    },
  ],
  users: [{ name: 'wicd', user: { token: 'hunter2' } }],
  contexts: [{ name: 'wicd', context: { cluster: 'local', user: 'wicd' } }],
  'current-context': 'wicd',
};

const withUser = (user: unknown) => ({ ...agentConfig, users: [{ name: 'wicd', user }] });
const withCluster = (cluster: unknown) => ({ ...agentConfig, clusters: [{ name: 'local', cluster }] });
const parseData = (data: unknown) => parseKubeconfig(JSON.stringify(data));
const userOf = (user: unknown) => parseData(withUser(user)).users.get('wicd');
const clusterOf = (cluster: unknown) => parseData(withCluster(cluster)).clusters.get('local');
const revealed = (value: Secret | undefined) => value?.reveal();

const forms: [name: string, text: string][] = [
  ['JSON', JSON.stringify(agentConfig)],
  ['JSON with blanks in front', `\n  ${JSON.stringify(agentConfig, undefined, 2)}\n`],
  ['YAML', stringify(agentConfig)],
  ['YAML with apiVersion and kind', stringify({ apiVersion: 'v1', kind: 'Config', preferences: {}, ...agentConfig })],
  ['YAML with comments and a document start', `# written by hand\n---\n${stringify(agentConfig)}`],
  ['YAML in flow style', stringify(agentConfig, { collectionStyle: 'flow' })],
  ['YAML with carriage returns', stringify(agentConfig).replaceAll('\n', '\r\n')],
];
for (const [name, text] of forms) {
  test(`reads ${name}`, () => {
    const resolved = resolveContext(parseKubeconfig(text));
    expect(resolved).toMatchObject({ name: 'wicd', userName: 'wicd', namespace: undefined });
    expect(resolved.cluster).toEqual({ server: 'https://api-int.example.com:6443', caData: pem, skipTlsVerify: false });
    expect(revealed(resolved.user.token)).toBe('hunter2');
  });
}

test('reads the certificate flavour with one file for certificate and key', () => {
  const path = 'C:\\k\\wicd-certs\\wicd-client-current.pem';
  expect(userOf({ 'client-certificate': path, 'client-key': path })).toEqual({
    clientCertificateFile: path,
    clientKeyFile: path,
  });
});

test('reads every member of a user', () => {
  const user = userOf({
    token: 't',
    tokenFile: '/var/run/token',
    'client-certificate': 'c.crt',
    'client-certificate-data': toBase64(pem),
    'client-key': 'c.key',
    'client-key-data': toBase64('key'),
    username: 'admin',
    password: 'p',
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'aws',
      args: ['eks', 'get-token'],
      env: [{ name: 'AWS_PROFILE', value: 'prod' }, { name: 'EMPTY' }],
    },
  });
  expect(user).toMatchObject({
    tokenFile: '/var/run/token',
    clientCertificateFile: 'c.crt',
    clientCertificateData: pem,
    clientKeyFile: 'c.key',
    username: 'admin',
    exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'aws', args: ['eks', 'get-token'] },
  });
  expect([user?.token, user?.clientKeyData, user?.password].map(revealed)).toEqual(['t', 'key', 'p']);
  expect(user?.exec?.env.map(({ name, value }) => [name, value.reveal()])).toEqual([
    ['AWS_PROFILE', 'prod'],
    ['EMPTY', ''],
  ]);
});

test('reads an exec plugin without arguments and environment', () => {
  expect(userOf({ exec: { apiVersion: 'v1', command: 'x', args: null, env: null } })?.exec).toEqual({
    apiVersion: 'v1',
    command: 'x',
    args: [],
    env: [],
    provideClusterInfo: false,
  });
});

test('parses an exec plugin', () => {
  const exec = {
    apiVersion: 'v1',
    command: 'x',
    provideClusterInfo: true,
    interactiveMode: 'Never',
    installHint: 'get x',
  };
  expect(userOf({ exec })?.exec).toMatchObject(exec);
  const wrong = errorOf(() => userOf({ exec: { ...exec, provideClusterInfo: 'yes' } }));
  expect(wrong?.message).toContain('provideClusterInfo is neither true nor false');
});

test('reads every member of a cluster', () => {
  const cluster = clusterOf({
    server: 'http://[::1]:8080/prefix',
    'certificate-authority': '/etc/ca.crt',
    'certificate-authority-data': ` ${toBase64(pem)}\n`,
    'insecure-skip-tls-verify': true,
    'tls-server-name': 'kubernetes',
    'proxy-url': 'http://user:pw@proxy:3128',
  });
  expect(cluster).toMatchObject({
    server: 'http://[::1]:8080/prefix',
    caFile: '/etc/ca.crt',
    caData: pem,
    skipTlsVerify: true,
    tlsServerName: 'kubernetes',
  });
  expect(revealed(cluster?.proxyUrl)).toBe('http://user:pw@proxy:3128');
});

const absent: [name: string, user: unknown][] = [
  ['empty texts', { token: '', password: '', 'client-key-data': '', 'client-certificate': '' }],
  ['null', { token: null, exec: null, 'client-key-data': null }],
  ['members of another kind of file', { 'auth-provider': { name: 'oidc' }, extensions: [] }],
  ['no user at all', undefined],
  ['a user that is null', null],
];
for (const [name, user] of absent) test(`takes ${name} as no credential`, () => expect(userOf(user)).toEqual({}));

test('knows no context, cluster or user in an empty object', () => {
  const config = parseKubeconfig('{}');
  expect([config.clusters.size, config.users.size, config.contexts.size]).toEqual([0, 0, 0]);
  expect(config.currentContext).toBeUndefined();
});

test('resolves a context by name, with its namespace', () => {
  const config = parseData({
    ...agentConfig,
    contexts: [...agentConfig.contexts, { name: 'b', context: { cluster: 'local', user: 'wicd', namespace: 'ns' } }],
  });
  expect(resolveContext(config, 'b')).toMatchObject({ name: 'b', namespace: 'ns' });
  expect(resolveContext(config).name).toBe('wicd');
});

test('uses a good context beside a half-written one', () => {
  const config = parseData({
    ...agentConfig,
    clusters: [{ name: 'empty' }, ...agentConfig.clusters],
    contexts: [{ name: 'half', context: {} }, ...agentConfig.contexts],
  });
  expect(resolveContext(config).cluster.server).toBe('https://api-int.example.com:6443');
  expect(errorOf(() => resolveContext(config, 'half'))?.code).toBe('KUBECONFIG_MALFORMED');
});

const context = (value: unknown) => ({ ...agentConfig, contexts: [{ name: 'wicd', context: value }] });
const unresolved: [name: string, data: unknown, hint: string][] = [
  ['no current context', { ...agentConfig, 'current-context': undefined }, 'has no current-context'],
  ['an empty current context', { ...agentConfig, 'current-context': '' }, 'has no current-context'],
  ['an unknown context', { ...agentConfig, 'current-context': 'x' }, 'has no context "x" (it has "wicd")'],
  ['no contexts at all', { ...agentConfig, contexts: [] }, 'has no context "wicd" (it has none)'],
  ['a context without a cluster', context({ user: 'wicd' }), 'context "wicd" names no cluster'],
  ['a context without a user', context({ cluster: 'local' }), 'context "wicd" names no user'],
  ['an unknown cluster', context({ cluster: 'x', user: 'wicd' }), 'has no cluster "x" (it has "local")'],
  ['an unknown user', context({ cluster: 'local', user: 'x' }), 'has no user "x"'],
  ['a cluster without a server', withCluster({}), 'cluster "local" has no server'],
  ['a server without a scheme', withCluster({ server: 'api:6443' }), 'not an http or https URL'],
  ['a server of another scheme', withCluster({ server: 'ftp://api' }), 'not an http or https URL'],
  ['a server with a blank', withCluster({ server: 'https://a b' }), 'not an http or https URL'],
  ['a server with a password', withCluster({ server: 'https://u:hunter2@api' }), 'not an http or https URL'],
];
for (const [name, data, hint] of unresolved) {
  test(`names what is missing: ${name}`, () => {
    const error = errorOf(() => resolveContext(parseData(data)));
    expect(error).toMatchObject({ code: 'KUBECONFIG_MALFORMED', message: expect.stringContaining(hint) });
    expect(error?.remedy).not.toBe('');
    expect(error?.message).not.toContain('hunter2');
  });
}

const twice = (list: 'clusters' | 'users' | 'contexts') => ({
  ...agentConfig,
  [list]: [...agentConfig[list], ...agentConfig[list]],
});
const malformed: [name: string, text: string, hint: string][] = [
  ['an empty text', '', 'is empty'],
  ['only a comment', '# nothing', 'is empty'],
  ['null', 'null', 'is empty'],
  ['a list', '[]', 'not an object'],
  ['a bare token', 'hunter2', 'not an object'],
  ['broken YAML', 'users: [hunter2', 'neither YAML nor JSON'],
  ['broken JSON that is no YAML either', '{"users": [}', 'neither YAML nor JSON'],
  ['two documents', 'a: 1\n---\nb: hunter2', 'neither YAML nor JSON'],
  ['tabs as indentation', 'users:\n\t- name: hunter2', 'neither YAML nor JSON'],
  ['a text that is too long', ' '.repeat(1_048_577), 'longer than 1048576'],
  ['clusters that are no list', '{"clusters": "hunter2"}', 'clusters is not a list'],
  ['an entry that is no object', '{"users": ["hunter2"]}', 'users[0] is not an object'],
  ['an entry without a name', '{"users": [{"user": {}}]}', 'users[0] has no name'],
  ['a name that is a number', '{"users": [{"name": 7}]}', 'users[0] name is not a string'],
  ['a user that is a text', JSON.stringify(withUser('hunter2')), 'user "wicd" is not an object'],
  ['a token that is a number', JSON.stringify(withUser({ token: 12345678 })), 'user "wicd" token is not a string'],
  ['a token that is a list', JSON.stringify(withUser({ token: ['hunter2'] })), 'token is not a string'],
  ['a password that is a number', JSON.stringify(withUser({ password: 12345678 })), 'password is not a string'],
  [
    'key data in the clear',
    JSON.stringify(withUser({ 'client-key-data': 'hunter2!' })),
    'client-key-data is not base64',
  ],
  [
    'key data that are no text',
    JSON.stringify(withUser({ 'client-key-data': '//8=' })),
    'client-key-data is not base64',
  ],
  ['a CA in the clear', JSON.stringify(withCluster({ 'certificate-authority-data': pem })), 'is not base64'],
  ['a flag in quotes', JSON.stringify(withCluster({ 'insecure-skip-tls-verify': 'true' })), 'neither true nor false'],
  ['an exec plugin without a command', JSON.stringify(withUser({ exec: { apiVersion: 'v1' } })), 'exec has no command'],
  ['an exec plugin without a version', JSON.stringify(withUser({ exec: { command: 'x' } })), 'has no apiVersion'],
  ['an exec plugin that is a text', JSON.stringify(withUser({ exec: 'hunter2' })), 'exec is not an object'],
  [
    'an argument that is a number',
    JSON.stringify(withUser({ exec: { apiVersion: 'v1', command: 'x', args: ['a', 12345678] } })),
    'args[1] is not a string',
  ],
  ['a current context that is a number', '{"current-context": 1}', 'current-context is not a string'],
  ['a cluster named twice', JSON.stringify(twice('clusters')), 'cluster "local" is listed twice'],
  ['a user named twice', JSON.stringify(twice('users')), 'user "wicd" is listed twice'],
  ['a context named twice', JSON.stringify(twice('contexts')), 'context "wicd" is listed twice'],
];
for (const [name, text, hint] of malformed) {
  test(`rejects ${name} without showing a value`, () => {
    const error = errorOf(() => parseKubeconfig(text));
    expect(error).toMatchObject({ code: 'KUBECONFIG_MALFORMED', message: expect.stringContaining(hint) });
    expect(error?.remedy).not.toBe('');
    expect(`${error?.message} ${inspect(error)}`).not.toMatch(/hunter2|12345678/);
  });
}

test('keeps credentials out of logs and JSON', () => {
  const config = parseData(withUser({ token: 'hunter2', password: 'hunter2', 'client-key-data': toBase64('hunter2') }));
  const user = resolveContext(config).user;
  expect(`${inspect(user)} ${JSON.stringify(user)}`).not.toContain('hunter2');
  expect(user.token).toBeInstanceOf(Secret);
});

test('follows a few aliases', () => {
  const text = 'x: &c {server: "https://a"}\nclusters:\n- {name: a, cluster: *c}\n- {name: b, cluster: *c}\n';
  expect([...parseKubeconfig(text).clusters.values()].map(cluster => cluster.server)).toEqual([
    'https://a',
    'https://a',
  ]);
});

const bombs: [name: string, text: string][] = [
  [
    'aliases of aliases',
    'a: &a [x]\n' +
      'bcdefghi'
        .split('')
        .map((name, index) => `${name}: &${name} [${`*${'abcdefgh'[index]},`.repeat(9)}]\n`)
        .join(''),
  ],
  ['an alias in itself', 'users: &a [*a]'],
  ['ten thousand brackets', '['.repeat(10_000)],
  ['ten thousand braces', '{a: '.repeat(10_000)],
  ['ten thousand dashes', '- '.repeat(10_000)],
  ['ten thousand keys of keys', '? '.repeat(10_000)],
  ['ten thousand commas', `[${','.repeat(10_000)}`],
  ['ten thousand anchors', '&a '.repeat(10_000)],
  ['deep JSON', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ['five thousand equal keys', 'a: 1\n'.repeat(5000)],
  ['a tag of another language', '!!js/function "x"'],
];
for (const [name, text] of bombs) {
  test(`is done quickly with ${name}`, () => {
    const error = within(500, () => errorOf(() => parseKubeconfig(text)));
    expect(['KUBECONFIG_MALFORMED', undefined]).toContain(error?.code);
  });
}

test('takes a member named __proto__ as any other', () => {
  const config = parseKubeconfig(
    '{"__proto__": {"current-context": "x"}, "users": [{"name": "__proto__", "user": {}}]}',
  );
  expect(config.currentContext).toBeUndefined();
  expect([...config.users.keys()]).toEqual(['__proto__']);
});

const original = [JSON.stringify(agentConfig), stringify(agentConfig)];
/** A good kubeconfig with some characters overwritten, cut or doubled. */
const mutated = fc
  .tuple(
    fc.constantFrom(...original),
    fc.array(fc.tuple(fc.nat(400), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 4 }),
  )
  .map(([text, edits]) => edits.reduce((all, [at, cut, put]) => all.slice(0, at) + put + all.slice(at + cut), text));

test('never throws anything but an AppError, and never takes long', () => {
  const input = fc.oneof(mutated, fc.string({ unit: 'binary' }), fc.json());
  fc.assert(
    fc.property(input, text => {
      const error = within(50, () =>
        errorOf(() => {
          const config: Kubeconfig = parseKubeconfig(text);
          resolveContext(config);
        }),
      );
      expect(['KUBECONFIG_MALFORMED', undefined]).toContain(error?.code);
      expect(error?.message ?? '').not.toContain('hunter2');
    }),
    { numRuns: 2000 },
  );
});

test('finds every token again that was written, in YAML as in JSON', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.constantFrom(JSON.stringify, stringify), (token, print) => {
      const config = parseKubeconfig(print(withUser({ token })));
      expect(revealed(resolveContext(config).user.token)).toBe(token);
    }),
    { numRuns: 500 },
  );
});

const oneCluster: [name: string, text: string, want: string][] = [
  ['of kubeadm', 'clusters: [{name: "", cluster: {server: "https://api:6443"}}]\nusers: null', 'https://api:6443'],
  ['without a name', 'clusters: [{cluster: {server: "https://api:6443"}}]', 'https://api:6443'],
  ['with a name', 'clusters: [{name: a, cluster: {server: "https://api:6443"}}]', 'https://api:6443'],
  ['with two clusters', 'clusters: [{name: a}, {name: b}]', 'kubeconfig has 2 clusters'],
  ['with two clusters without a name', 'clusters: [{}, {}]', 'kubeconfig: cluster "" is listed twice'],
  ['without a cluster', 'kind: Config', 'kubeconfig has 0 clusters'],
  ['without a server', 'clusters: [{name: a}]', 'kubeconfig: cluster "a" has no server'],
  ['with a login in its server', 'clusters: [{cluster: {server: "https://u:p@a"}}]', 'is not an http or https URL'],
];
for (const [name, text, want] of oneCluster) {
  test(`reads the only server of a kubeconfig ${name}`, () => {
    const read = () => onlyServer(parseKubeconfig(text));
    if (want.startsWith('https:')) expect(read()).toBe(want);
    else expect(errorOf(read)).toMatchObject({ code: 'KUBECONFIG_MALFORMED', message: expect.stringContaining(want) });
  });
}
