import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';
import { manualClock } from '../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../test/kit/memory-api.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { type Account, permissions, tokenOf } from './tokens.ts';

const { signal } = new AbortController();
const agent: Account = { namespace: 'wmco', name: 'agent', secret: 'agent-token', ours: true };
const kubelet: Account = {
  namespace: 'mco',
  name: 'node-bootstrapper',
  secret: 'node-bootstrapper-token',
  ours: false,
};
const path = ({ namespace, name }: Account) => `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;

function world({ knowsCa = true, issues = [agent, kubelet] as Account[] } = {}) {
  const api = new MemoryApi();
  const clock = manualClock();
  const recorded = recordedLog();
  for (const account of issues) api.paths.set(path(account), { status: { token: `short-lived ${account.name}` } });
  const ask = (account: Account, within = signal) =>
    tokenOf(
      account,
      { client: api, seconds: 3600, clusterCa: () => (knowsCa ? 'ca' : undefined), clock, log: recorded.log },
      within,
    );
  return { api, clock, ask, log: recorded };
}

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
    const { ask, api } = world();
    const { ca, token } = await ask(account);
    expect([ca, token.reveal()]).toEqual(['ca', `short-lived ${account.name}`]);
    expect(api.calls.map(({ verb, name }) => `${verb} ${name}`)).toEqual([`raw POST ${path(account)}`]);
  });
}

test('asks anew each time, so that each host has a token of its own', async () => {
  const { ask, api } = world();
  await ask(agent);
  await ask(agent);
  expect(api.calls).toHaveLength(2);
});

const without: [name: string, code: number, reason: string][] = [
  ['does not know such requests', 404, 'NotFound'],
  ['does not allow it to us', 403, 'Forbidden'],
  ['has it switched off', 405, 'MethodNotAllowed'],
];
for (const [name, code, reason] of without) {
  test(`takes the token of the Secret where the cluster ${name}`, async () => {
    const { ask, api, log } = world();
    api.before = ({ verb }) => {
      if (verb === 'raw') throw refused(code, reason);
    };
    api.put(secrets, tokenSecret(kubelet));
    const { ca, token } = await ask(kubelet);
    expect([ca, token.reveal()]).toEqual(['stored ca', 'stored token']);
    expect(log.messages('info')).toHaveLength(1);
  });
}

test('takes the token of the Secret while nobody has told the CA of the cluster', async () => {
  const { ask, api } = world({ knowsCa: false });
  api.put(secrets, tokenSecret(kubelet));
  expect((await ask(kubelet)).ca).toBe('stored ca');
  expect(api.calls.map(({ verb }) => verb)).toEqual(['get']);
});

test.each([[500], [401], [429], [503]])('passes a failure of the server on: %d', async code => {
  const { ask, api } = world();
  api.before = () => {
    throw refused(code, 'Failure');
  };
  await expect(ask(agent)).rejects.toMatchObject({ code });
});

test('refuses an answer without a token', async () => {
  const { ask, api } = world();
  api.paths.set(path(agent), { status: {} });
  expect(await rejectionOf(ask(agent))).toMatchObject({ code: 'FIELD_INVALID' });
});

test('waits for its own account to be made, and makes no Secret for one that is not there', async () => {
  const { ask, api } = world();
  api.before = ({ verb }) => {
    if (verb === 'raw') throw refused(404, 'NotFound', { name: 'agent', kind: 'serviceaccounts' });
  };
  expect(await rejectionOf(ask(agent))).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: 'ServiceAccount wmco/agent does not exist',
    remedy: expect.stringContaining('Wait'),
  });
  expect(api.all(secrets)).toEqual([]);
});

test('takes the Secret of an account of others that is not there', async () => {
  const { ask, api } = world();
  api.before = ({ verb }) => {
    if (verb === 'raw') throw refused(404, 'NotFound', { name: kubelet.name });
  };
  api.put(secrets, tokenSecret(kubelet));
  expect((await ask(kubelet)).token.reveal()).toBe('stored token');
});

test('says which Secret of others is missing, and makes none', async () => {
  const { ask, api } = world({ issues: [] });
  expect(await rejectionOf(ask(kubelet))).toMatchObject({
    code: 'MATERIAL_MISSING',
    message: 'Secret mco/node-bootstrapper-token does not exist',
  });
  expect(api.calls.some(({ verb }) => verb === 'create')).toBe(false);
});

test('says that a Secret of others is not filled', async () => {
  const { ask, api } = world({ issues: [] });
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

test('makes the Secret of its own account and waits until it is filled', async () => {
  const { ask, api, clock } = world();
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

test('takes one that is there and filled at once', async () => {
  const { ask, api } = world({ issues: [] });
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
    const { ask, api, clock } = world();
    api.put(secrets, tokenSecret(agent, more));
    fillAfter(api, 2);
    const asked = ask(agent);
    await clock.advance(5000);
    expect((await asked).token.reveal()).toBe('stored token');
    expect(api.calls.map(({ verb }) => verb)).toEqual(expect.arrayContaining(['delete', 'create']));
  });
}

test('gives up after a minute when nobody fills it', async () => {
  const { ask, api, clock } = world({ issues: [] });
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
  test(`goes on when ${verb} meets ${reason}`, async () => {
    const { ask, api, clock } = world();
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

test('ends when it is told to', async () => {
  const { ask, clock } = world({ issues: [] });
  const stop = new AbortController();
  const asked = ask(agent, stop.signal).catch((error: unknown) => error);
  await clock.advance(2000);
  stop.abort(new Error('enough'));
  expect(await asked).toMatchObject({ message: 'enough' });
});

test('shows no token to whoever prints it, nor in the log', async () => {
  const { ask, log } = world();
  expect(inspect(await ask(agent))).not.toContain('short-lived');
  expect(JSON.stringify(log.lines)).not.toContain('short-lived');
});

test('may make tokens of two accounts only, and delete one Secret only', () => {
  for (const { resources, names } of permissions.filter(({ resources: all }) =>
    all.includes('serviceaccounts/token'),
  )) {
    expect(resources).toHaveLength(1);
    expect(names?.length).toBeGreaterThan(0);
  }
  expect(permissions.find(({ verbs }) => verbs.includes('delete'))?.names).toEqual(['windows-instance-config-daemon']);
});
