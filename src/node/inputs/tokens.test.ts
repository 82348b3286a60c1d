import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { lastingTokenPermissions } from './lasting-tokens.ts';
import { PendingInputError } from './missing-input.ts';
import { type Account, permissions, issueToken } from './tokens.ts';

const { signal } = new AbortController();
const agent: Account = { namespace: 'wmco', name: 'agent', secret: 'agent-token', isOwned: true };
const kubelet: Account = {
  namespace: 'mco',
  name: 'node-bootstrapper',
  secret: 'node-bootstrapper-token',
  isOwned: false,
};
const path = ({ namespace, name }: Account) => `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;

const expires = '2030-01-01T01:00:00Z';

interface Wishes {
  clusterCa: () => string | undefined;
  issues: Account[];
  allowLasting: boolean;
}

function bench({ clusterCa = () => 'ca', issues = [agent, kubelet], allowLasting = false }: Partial<Wishes> = {}) {
  const api = new MemoryApi();
  const clock = manualClock();
  const recorded = recordedLog();
  for (const account of issues) {
    api.paths.set(path(account), { status: { token: `short-lived ${account.name}`, expirationTimestamp: expires } });
  }
  const options = { client: api, namespace: 'wmco', seconds: 3600, clusterCa, clock, log: recorded.log };
  const ask = (account: Account, within = signal) => issueToken(account, { ...options, allowLasting }, within);
  return { api, clock, ask, log: recorded };
}

/** A cluster in which lasting tokens are allowed, and which issues no others. */
const lasting = () => bench({ issues: [], allowLasting: true });

const tokenSecret = (account: Account, more: Partial<SecretObject> = {}): SecretObject => ({
  metadata: {
    name: account.secret,
    namespace: account.namespace,
    annotations: { 'kubernetes.io/service-account.name': account.name },
  },
  type: 'kubernetes.io/service-account-token',
  data: { 'ca.crt': toBase64('stored ca'), token: toBase64('stored token') },
  ...more,
});

for (const account of [agent, kubelet]) {
  test(`asks for a short-lived token of ${account.name}`, async () => {
    const { ask, api } = bench();
    const { ca, token } = await ask(account);
    expect([ca, token.reveal()]).toEqual(['ca', `short-lived ${account.name}`]);
    expect(api.calls.map(({ verb, name }) => `${verb} ${name}`)).toEqual([`raw POST ${path(account)}`]);
  });
}

test('requests a new token each time, so that every host has its own', async () => {
  const { ask, api } = bench();
  await ask(agent);
  await ask(agent);
  expect(api.calls).toHaveLength(2);
});

test('reports which token it is and when it expires', async () => {
  const { ask, api } = bench();
  const jwt = `e30.${Buffer.from('{"jti":"one"}').toString('base64url')}.c2ln`;
  api.paths.set(path(agent), { status: { token: jwt, expirationTimestamp: expires } });
  expect(await ask(agent)).toMatchObject({ id: 'JTI=one', expires });
});

test('a token without an id, as before Kubernetes 1.30, has none', async () => {
  expect(await bench().ask(agent)).toMatchObject({ id: undefined, expires });
});

test.each([[undefined], [''], ['soon']])(
  'counts the lifetime from now when the server returns %s as expiry',
  async given => {
    const { ask, api, clock } = bench();
    api.paths.set(path(agent), { status: { token: 't', expirationTimestamp: given } });
    expect(Date.parse((await ask(agent)).expires ?? '')).toBe(clock.now() + 3_600_000);
  },
);

const without: [name: string, code: number, reason: string, remedy: string][] = [
  ['does not know such requests', 404, 'NotFound', '--allow-lasting-tokens'],
  ['does not allow it to us', 403, 'Forbidden', 'serviceaccounts/token'],
  ['has it switched off', 405, 'MethodNotAllowed', '--allow-lasting-tokens'],
];
for (const [name, code, reason, remedy] of without) {
  const refusing = (allowLasting: boolean) => {
    const made = bench({ allowLasting });
    made.api.before = ({ verb }) => {
      if (verb === 'raw') throw refused(code, reason);
    };
    made.api.put(secrets, tokenSecret(kubelet));
    made.api.put(secrets, tokenSecret(agent));
    return made;
  };

  for (const account of [agent, kubelet]) {
    test(`hands out no lasting token of ${account.name} where the cluster ${name}`, async () => {
      const { ask, api } = refusing(false);
      expect(await rejectionOf(ask(account))).toMatchObject({
        code: 'TOKEN_NOT_ISSUED',
        message: expect.stringContaining(`ServiceAccount ${account.namespace}/${account.name}`),
        remedy: expect.stringContaining(remedy),
      });
      expect(api.calls.map(({ verb }) => verb)).toEqual(['raw']);
    });
  }

  test(`takes the token of the Secret where the cluster ${name} and lasting tokens are allowed`, async () => {
    const { ask, log } = refusing(true);
    const handed = await ask(kubelet);
    expect([handed.ca, handed.token.reveal()]).toEqual(['stored ca', 'stored token']);
    expect(handed).toMatchObject({ id: undefined, expires: undefined });
    expect(log.messages('warn')).toEqual(['Using a token that never expires']);
  });
}

for (const allowLasting of [false, true]) {
  for (const ca of [undefined, '']) {
    test(`waits while the CA of the cluster is ${ca === '' ? 'empty' : 'not cached'}${allowLasting ? ', lasting tokens or not' : ''}`, async () => {
      const { ask, api } = bench({ clusterCa: () => ca, allowLasting });
      api.put(secrets, tokenSecret(kubelet));
      for (const account of [agent, kubelet]) {
        expect(await rejectionOf(ask(account))).toMatchObject({
          code: 'MATERIAL_MISSING',
          message: 'ConfigMap wmco/kube-root-ca.crt does not exist',
          remedy: expect.stringContaining('Wait'),
        });
      }
      expect(api.calls).toEqual([]);
    });
  }
}

test.each([[500], [401], [429], [503]])('returns an API error unchanged: %d', async code => {
  const { ask, api } = bench();
  api.before = () => {
    throw refused(code, 'Failure');
  };
  await expect(ask(agent)).rejects.toMatchObject({ code });
});

test('rejects a response without a token', async () => {
  const { ask, api } = bench();
  api.paths.set(path(agent), { status: {} });
  expect(await rejectionOf(ask(agent))).toMatchObject({ code: 'FIELD_INVALID' });
});

test('waits until its own ServiceAccount exists, and creates no Secret before', async () => {
  const { ask, api } = bench();
  api.before = ({ verb }) => {
    if (verb === 'raw') throw refused(404, 'NotFound', { name: 'agent', kind: 'serviceaccounts' });
  };
  const rejection = await rejectionOf(ask(agent));
  expect(rejection).toBeInstanceOf(PendingInputError);
  expect(rejection).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: 'ServiceAccount wmco/agent does not exist',
    remedy: expect.stringContaining('Wait'),
  });
  expect(api.all(secrets)).toEqual([]);
});

const goneAccount = (allowLasting: boolean) => {
  const made = bench({ allowLasting });
  made.api.before = ({ verb }) => {
    if (verb === 'raw') throw refused(404, 'NotFound', { name: kubelet.name });
  };
  made.api.put(secrets, tokenSecret(kubelet));
  return made;
};

test('waits for a missing ServiceAccount that it does not own', async () => {
  expect(await rejectionOf(goneAccount(false).ask(kubelet))).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: 'ServiceAccount mco/node-bootstrapper does not exist',
  });
});

test('uses the Secret of a missing ServiceAccount when lasting tokens are allowed', async () => {
  expect((await goneAccount(true).ask(kubelet)).token.reveal()).toBe('stored token');
});

test('reports a missing Secret that it does not own, and creates none', async () => {
  const { ask, api } = lasting();
  expect(await rejectionOf(ask(kubelet))).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: 'Secret mco/node-bootstrapper-token does not exist or has no token',
  });
  expect(api.calls.some(({ verb }) => verb === 'create')).toBe(false);
});

test('reports a Secret without a token that it does not own', async () => {
  const { ask, api } = lasting();
  api.put(secrets, tokenSecret(kubelet, { data: {} }));
  expect(await rejectionOf(ask(kubelet))).toMatchObject({ code: 'MATERIAL_MISSING' });
});

/** Fills every token Secret that appears, as the token controller does, after so many looks. */
function fillAfter(api: MemoryApi, looks: number): void {
  let left = looks;
  api.before = ({ verb, resource }) => {
    if (verb === 'raw') throw refused(404, 'NotFound');
    if (verb !== 'get' || resource !== 'secrets' || left-- > 0) return;
    const found = api.peek(secrets, agent.secret, agent.namespace);
    if (found !== undefined) api.put(secrets, { ...found, data: tokenSecret(agent).data ?? {} });
  };
}

test('creates the Secret of its own ServiceAccount and waits for the token', async () => {
  const { ask, api, clock } = lasting();
  fillAfter(api, 3);
  const asked = ask(agent);
  await clock.advance(5000);
  expect((await asked).token.reveal()).toBe('stored token');
  expect(api.peek(secrets, agent.secret, agent.namespace)).toMatchObject({
    type: 'kubernetes.io/service-account-token',
    metadata: { annotations: { 'kubernetes.io/service-account.name': 'agent' } },
  });
  expect(api.calls.filter(({ verb }) => verb === 'create')).toHaveLength(1);
});

test('uses an existing Secret with a token at once', async () => {
  const { ask, api } = lasting();
  api.put(secrets, tokenSecret(agent));
  expect((await ask(agent)).ca).toBe('stored ca');
  expect(api.calls.map(({ verb }) => verb)).toEqual(['raw', 'get']);
});

const foreign: [name: string, more: Partial<SecretObject>][] = [
  ['of another type', { type: 'Opaque' }],
  [
    'of another account',
    { metadata: { ...tokenSecret(agent).metadata, annotations: { 'kubernetes.io/service-account.name': 'x' } } },
  ],
  ['of no account', { metadata: { name: agent.secret, namespace: agent.namespace } }],
];
for (const [name, more] of foreign) {
  test(`puts its own in the place of a Secret ${name}`, async () => {
    const { ask, api, clock } = lasting();
    api.put(secrets, tokenSecret(agent, more));
    fillAfter(api, 2);
    const asked = ask(agent);
    await clock.advance(5000);
    expect((await asked).token.reveal()).toBe('stored token');
    expect(api.calls.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['delete', 'create']));
  });
}

test('fails after a minute without a token', async () => {
  const { ask, api, clock } = lasting();
  const asked = rejectionOf(ask(agent));
  await clock.advance(59_000);
  expect(api.calls.filter(({ verb }) => verb === 'get').length).toBeGreaterThan(50);
  await clock.advance(3000);
  expect(await asked).toMatchObject({
    code: 'TOKEN_NOT_ISSUED',
    message: expect.stringContaining('Secret wmco/agent-token has no token after 60 s'),
    remedy: expect.stringContaining('kube-controller-manager'),
  });
  expect(clock.sleepers()).toBe(0);
});

const races: [verb: string, code: number, reason: string][] = [
  ['create', 409, 'AlreadyExists'],
  ['delete', 404, 'NotFound'],
  ['delete', 409, 'Conflict'],
];
for (const [verb, code, reason] of races) {
  test(`continues when ${verb} meets ${reason}`, async () => {
    const { ask, api, clock } = lasting();
    if (verb === 'delete') api.put(secrets, tokenSecret(agent, { type: 'Opaque' }));
    let left = 1;
    api.before = call => {
      if (call.verb === 'raw') throw refused(404, 'NotFound');
      if (call.verb !== verb || left-- <= 0) return;
      api.put(secrets, tokenSecret(agent));
      throw refused(code, reason);
    };
    const asked = ask(agent);
    await clock.advance(5000);
    expect((await asked).token.reveal()).toBe('stored token');
  });
}

test('stops when the signal is aborted', async () => {
  const { ask, clock } = lasting();
  const stop = new AbortController();
  const asked = ask(agent, stop.signal).catch((error: unknown) => error);
  await clock.advance(2000);
  stop.abort(new Error('enough'));
  expect(await asked).toMatchObject({ message: 'enough' });
});

test('shows no token when printed, nor in the log', async () => {
  const { ask, log } = bench();
  expect(inspect(await ask(agent))).not.toContain('short-lived');
  expect(JSON.stringify(log.lines)).not.toContain('short-lived');
});

test('has permission for tokens of named ServiceAccounts only, and for no Secret', () => {
  expect(permissions.flatMap(({ resources }) => resources)).toEqual(['serviceaccounts/token', 'serviceaccounts/token']);
  for (const { names } of permissions) expect(names?.length).toBeGreaterThan(0);
});

test('with lasting tokens, has permission for the token Secrets only', () => {
  const named = lastingTokenPermissions.filter(({ verbs }) => !verbs.includes('create'));
  for (const { names = [] } of named) {
    expect(names.length).toBeGreaterThan(0);
    expect(['windows-instance-config-daemon', 'node-bootstrapper-token']).toEqual(expect.arrayContaining([...names]));
  }
});
