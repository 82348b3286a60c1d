import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { fromBase64, fromUtf8, toBase64 } from '../../../base/bytes.ts';
import { systemClock } from '../../../base/clock.ts';
import { secrets, serviceAccounts } from '../../../kube/resources.ts';
import { jwtKey } from '../auth/jwt.ts';
import { reviewServiceAccountToken } from '../auth/token-review.ts';
import { TokenSigner } from '../auth/token-signer.ts';
import { textAt } from '../object.ts';
import type { LocalApi } from '../ports.ts';
import { createTokenSecrets } from './token-secrets.ts';

const key = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const signer = new TokenSigner({ key, issuer: 'https://k', audiences: ['https://k'], clock: systemClock });
const start = () => startLocalApi([createTokenSecrets(signer, 'the ca')]);

const makeAccount = (api: LocalApi, name = 'sa') =>
  api.create(serviceAccounts, { metadata: { namespace: 'default', name } });
const makeSecret = (api: LocalApi, name = 'token', more: object = {}, annotations: Record<string, string> = {}) =>
  api.create(secrets, {
    metadata: {
      namespace: 'default',
      name,
      annotations: { 'kubernetes.io/service-account.name': 'sa', ...annotations },
    },
    type: 'kubernetes.io/service-account-token',
    ...more,
  } as never);
const find = (api: LocalApi, name = 'token') => api.get(secrets, { namespace: 'default', name });
const dataOf = (api: LocalApi, member: string, name = 'token') =>
  fromUtf8(fromBase64(textAt({ data: (find(api, name)?.['data'] as never)?.[member] }, 'data')) ?? new Uint8Array());
const holderOf = (api: LocalApi, token = dataOf(api, 'token') ?? '') =>
  reviewServiceAccountToken(token, [], { signer, api })?.user.username;

test('a token Secret is filled in', async () => {
  await using api = await start();
  const account = makeAccount(api);
  makeSecret(api);
  await quiet(api);
  expect(dataOf(api, 'ca.crt')).toBe('the ca');
  expect(dataOf(api, 'namespace')).toBe('default');
  expect(holderOf(api)).toBe('system:serviceaccount:default:sa');
  expect(find(api)?.metadata.annotations).toEqual({
    'kubernetes.io/service-account.name': 'sa',
    'kubernetes.io/service-account.uid': account.metadata.uid,
  });
});

test('an account may have several, each with a token of its own', async () => {
  await using api = await start();
  makeAccount(api);
  makeSecret(api, 'one');
  makeSecret(api, 'two');
  await quiet(api);
  expect(dataOf(api, 'token', 'one')).not.toBe(dataOf(api, 'token', 'two'));
});

test('what a Secret holds besides is kept, and so is its token', async () => {
  await using api = await start();
  makeAccount(api);
  makeSecret(api, 'token', {
    data: { token: toBase64('mine'), extra: toBase64('x'), namespace: toBase64('elsewhere') },
  });
  await quiet(api);
  expect(dataOf(api, 'token')).toBe('mine');
  expect(dataOf(api, 'extra')).toBe('x');
  expect(dataOf(api, 'namespace')).toBe('elsewhere');
  expect(dataOf(api, 'ca.crt')).toBe('the ca');
});

test('removed data of a token Secret is restored', async () => {
  await using api = await start();
  makeAccount(api);
  makeSecret(api);
  await quiet(api);
  const found = find(api);
  const old = dataOf(api, 'token') ?? '';
  api.replace(secrets, { ...found, data: {} } as never);
  await quiet(api);
  expect(holderOf(api)).toBe('system:serviceaccount:default:sa');
  expect(dataOf(api, 'ca.crt')).toBe('the ca');
  expect(old).not.toBe('');
});

test('token Secrets are deleted with their account', async () => {
  await using api = await start();
  makeAccount(api);
  makeAccount(api, 'other');
  makeSecret(api);
  makeSecret(api, 'others', {}, { 'kubernetes.io/service-account.name': 'other' });
  api.create(secrets, { metadata: { namespace: 'default', name: 'plain' } });
  await quiet(api);
  const token = dataOf(api, 'token') ?? '';
  api.delete(serviceAccounts, { namespace: 'default', name: 'sa' });
  expect(holderOf(api, token)).toBeUndefined();
  await quiet(api);
  expect(find(api)).toBeUndefined();
  expect(find(api, 'others')).toBeDefined();
  expect(find(api, 'plain')).toBeDefined();
});

test('a Secret for an account that is not there is deleted', async () => {
  await using api = await start();
  makeSecret(api);
  await quiet(api);
  expect(find(api)).toBeUndefined();
});

test('a Secret of an earlier account of the same name is deleted', async () => {
  await using api = await start();
  makeAccount(api);
  makeSecret(api, 'token', {}, { 'kubernetes.io/service-account.uid': 'earlier' });
  await quiet(api);
  expect(find(api)).toBeUndefined();
});

test('Secrets of other types are left alone', async () => {
  await using api = await start();
  makeAccount(api);
  makeSecret(api, 'token', { type: 'Opaque' });
  await quiet(api);
  expect(find(api)?.['data']).toBeUndefined();
});

test('Secrets from before the start are filled in', async () => {
  await using api = await startLocalApi([]);
  makeAccount(api);
  makeSecret(api);
  const controller = createTokenSecrets(signer, 'the ca');
  controller.start(api);
  await quiet(api);
  controller.stop();
  expect(holderOf(api)).toBe('system:serviceaccount:default:sa');
});
