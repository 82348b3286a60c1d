import { expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';
import type { TokenRequest } from '../ports.ts';

const account = '/api/v1/namespaces/default/serviceaccounts';

async function withIssuer(): Promise<{ sandbox: Sandbox; asked: TokenRequest[] }> {
  const asked: TokenRequest[] = [];
  const sandbox = await startSandbox({
    identity: () => ({
      tokenIssuer: {
        issue: request => {
          asked.push(request);
          return {
            token: 'secret',
            expirationTimestamp: 'then',
            audiences: request.audiences.length === 0 ? ['own'] : request.audiences,
          };
        },
      },
    }),
  });
  await sandbox.make(`POST ${account}`, { metadata: { name: 'a' } });
  return { sandbox, asked };
}

test('asks for a token and passes it on', async () => {
  const { sandbox, asked } = await withIssuer();
  await using _ = sandbox;
  const bound = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'u' };
  const answer = await sandbox.make(`POST ${account}/a/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['x'], expirationSeconds: 700, boundObjectRef: bound },
  });
  expect(answer).toMatchObject({
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    spec: { audiences: ['x'], expirationSeconds: 700, boundObjectRef: bound },
    status: { token: 'secret', expirationTimestamp: 'then' },
  });
  expect(asked).toMatchObject([
    { audiences: ['x'], expirationSeconds: 700, boundObject: bound, serviceAccount: { metadata: { name: 'a' } } },
  ]);
});

test('sets defaults of a TokenRequest', async () => {
  const { sandbox, asked } = await withIssuer();
  await using _ = sandbox;
  expect(await sandbox.make(`POST ${account}/a/token`, { spec: {} })).toMatchObject({
    spec: { audiences: ['own'], expirationSeconds: 3600 },
  });
  await sandbox.make(`POST ${account}/a/token`, { spec: { boundObjectRef: { kind: 'Pod', name: 'p' } } });
  expect(asked).toMatchObject([
    { audiences: [], expirationSeconds: 3600, boundObject: undefined },
    { boundObject: { kind: 'Pod', apiVersion: '', name: 'p', uid: '' } },
  ]);
});

const refused: [string, string, unknown, number][] = [
  ['an account that is not there', 'none', { spec: {} }, 404],
  ['less than ten minutes', 'a', { spec: { expirationSeconds: 599 } }, 422],
  ['no number of seconds', 'a', { spec: { expirationSeconds: 'x' } }, 422],
  ['a list', 'a', [], 400],
];
test.each(refused)('rejects a token for %s', async (_, name, body, code) => {
  const { sandbox, asked } = await withIssuer();
  await using __ = sandbox;
  expect((await sandbox.send(`POST ${account}/${name}/token`, body)).code).toBe(code);
  expect(asked).toEqual([]);
});

test('issues no tokens without a token issuer', async () => {
  await using sandbox = await startSandbox();
  await sandbox.make(`POST ${account}`, { metadata: { name: 'a' } });
  expect((await sandbox.send(`POST ${account}/a/token`, { spec: {} })).code).toBe(405);
});
