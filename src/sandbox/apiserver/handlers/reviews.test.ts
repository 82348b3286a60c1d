import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';
import type { AccessRequest, UserInfo } from '../ports.ts';

const authorization = '/apis/authorization.k8s.io/v1';
const authentication = '/apis/authentication.k8s.io/v1';
const rules = { resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }], nonResourceRules: [] };

const asked: AccessRequest[] = [];
let open: Sandbox;
let guarded: Sandbox;
beforeAll(async () => {
  open = await startSandbox();
  const self: UserInfo = { username: 'self', groups: ['g'] };
  guarded = await startSandbox({
    identity: () => ({
      authenticator: {
        authenticate: () => self,
        reviewToken: (token, audiences) =>
          token === 'good'
            ? {
                user: { username: 'joe', uid: 'u', groups: ['g'], extra: { a: ['b'] } },
                audiences: [...audiences, 'own'],
              }
            : undefined,
      },
      authorizer: {
        authorize: request => {
          if (request.resource.endsWith('reviews')) return { allowed: true, reason: '' };
          asked.push(request);
          return { allowed: request.verb === 'get', reason: request.verb === 'get' ? 'because' : '' };
        },
        rulesFor: (user, namespace) =>
          user.username === 'self' && namespace === 'n' ? rules : { resourceRules: [], nonResourceRules: [] },
      },
    }),
  });
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
});

const attributes = {
  namespace: 'n',
  verb: 'get',
  group: 'apps',
  version: 'v1',
  resource: 'daemonsets',
  subresource: 'status',
  name: 'd',
};

test('asks the authorizer about oneself', async () => {
  asked.length = 0;
  expect(
    await guarded.make(`POST ${authorization}/selfsubjectaccessreviews`, {
      metadata: { name: 'x' },
      spec: { resourceAttributes: attributes },
    }),
  ).toEqual({
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { name: 'x', creationTimestamp: null },
    spec: { resourceAttributes: attributes },
    status: { allowed: true, reason: 'because' },
  });
  expect(asked).toEqual([{ ...attributes, path: '', user: { username: 'self', groups: ['g'] } }]);
});

test('asks the authorizer about a path', async () => {
  asked.length = 0;
  const spec = { nonResourceAttributes: { path: '/x', verb: 'post' } };
  expect(await guarded.make(`POST ${authorization}/selfsubjectaccessreviews`, { spec })).toMatchObject({
    status: { allowed: false },
  });
  expect(asked).toMatchObject([{ path: '/x', verb: 'post', resource: '' }]);
});

const elsewhere = ['subjectaccessreviews', 'namespaces/n/localsubjectaccessreviews'];
test.each(elsewhere)('reviews another user by %s', async plural => {
  asked.length = 0;
  const spec = {
    user: 'joe',
    uid: 'u',
    groups: ['h'],
    extra: { a: ['b'] },
    resourceAttributes: { verb: 'get', resource: 'pods' },
  };
  expect(await guarded.make(`POST ${authorization}/${plural}`, { spec })).toMatchObject({ status: { allowed: true } });
  expect(asked[0]?.user).toEqual({ username: 'joe', uid: 'u', groups: ['h'], extra: { a: ['b'] } });
});

test('asks about a group alone', async () => {
  const spec = { groups: ['h'], resourceAttributes: { verb: 'get', resource: 'pods' } };
  expect((await guarded.send(`POST ${authorization}/subjectaccessreviews`, { spec })).code).toBe(201);
});

test('lists what one may do', async () => {
  expect(
    await guarded.make(`POST ${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'n' } }),
  ).toMatchObject({
    status: { ...rules, incomplete: false },
  });
  expect(await open.make(`POST ${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'n' } })).toMatchObject({
    status: { resourceRules: [{ verbs: ['*'] }], nonResourceRules: [{ nonResourceURLs: ['*'] }] },
  });
});

test('allows everything without an authorizer', async () => {
  const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
  expect(await open.make(`POST ${authorization}/selfsubjectaccessreviews`, { spec })).toMatchObject({
    status: { allowed: true },
  });
});

test('reviews a token', async () => {
  expect(
    await guarded.make(`POST ${authentication}/tokenreviews`, { spec: { token: 'good', audiences: ['x'] } }),
  ).toMatchObject({
    kind: 'TokenReview',
    status: {
      authenticated: true,
      user: { username: 'joe', uid: 'u', groups: ['g'], extra: { a: ['b'] } },
      audiences: ['x', 'own'],
    },
  });
  for (const sandbox of [guarded, open])
    expect((await sandbox.make(`POST ${authentication}/tokenreviews`, { spec: { token: 'bad' } }))['status']).toEqual({
      user: {},
      error: 'invalid bearer token',
    });
});

const refused: [string, string, unknown, [number, RegExp]][] = [
  [
    'nothing asked',
    `${authorization}/selfsubjectaccessreviews`,
    { spec: {} },
    [422, /exactly one of nonResourceAttributes or/],
  ],
  [
    'two things asked',
    `${authorization}/selfsubjectaccessreviews`,
    { spec: { resourceAttributes: {}, nonResourceAttributes: {} } },
    [422, /exactly one of nonResourceAttributes or/],
  ],
  [
    'no user',
    `${authorization}/subjectaccessreviews`,
    { spec: { resourceAttributes: {} } },
    [422, /at least one of user or group/],
  ],
  ['no namespace', `${authorization}/selfsubjectrulesreviews`, { spec: {} }, [400, /no namespace on request/]],
  [
    'no token',
    `${authentication}/tokenreviews`,
    { spec: {} },
    [400, /^token is required for TokenReview in authentication$/],
  ],
  [
    'another kind',
    `${authentication}/tokenreviews`,
    { kind: 'Pod', spec: {} },
    [400, /^Pod in version .* cannot be handled as a TokenReview$/],
  ],
  [
    'another version',
    `${authentication}/tokenreviews`,
    { apiVersion: 'x/v1' },
    [400, /cannot be handled as a TokenReview$/],
  ],
  ['a list', `${authentication}/tokenreviews`, [], [400, /must be of type TokenReview/]],
];
test.each(refused)('rejects %s', async (_, path, body, [code, message]) => {
  const answer = await open.send(`POST ${path}`, body);
  expect([answer.code, (answer.body as Json)['message']]).toEqual([code, expect.stringMatching(message)]);
});

const wrongPlaces: [string, number][] = [
  [`GET ${authentication}/tokenreviews`, 405],
  [`POST ${authentication}/tokenreviews/x`, 405],
  [`POST ${authorization}/localsubjectaccessreviews`, 404],
  [`POST ${authorization}/namespaces/n/selfsubjectaccessreviews`, 404],
  ['POST /apis/authorization.k8s.io/v1beta1/selfsubjectaccessreviews', 404],
];
test.each(wrongPlaces)('answers %s with %i', async (request, code) => {
  expect((await open.send(request, request.startsWith('GET') ? undefined : { spec: {} })).code).toBe(code);
});
