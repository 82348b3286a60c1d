import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { Target } from '../../../test/kit/parity-cases/target.ts';
import { startSandbox } from '../../../test/kit/sandbox.ts';
import { createAuthority, issueClientPair } from './auth/ca.ts';
import type { Credentials } from './ports.ts';
import { startApiServer } from './server.ts';
import { unauthorized } from './status.ts';

test('passes all credentials to the authenticator and rejects unknown users', async () => {
  const seen: Credentials[] = [];
  const authority = createAuthority('sandbox', manualClock(Date.now()));
  const server = await startApiServer({
    authority,
    identity: () => ({
      authenticator: {
        authenticate: credentials => {
          seen.push(credentials);
          return credentials.authorization === 'Bearer good' ? { username: 'joe', groups: [] } : undefined;
        },
        reviewToken: () => undefined,
      },
    }),
  });
  const { certificate: cert, key } = issueClientPair(authority, { commonName: 'x' }, manualClock(Date.now()));
  const target = new Target({ url: server.url, ca: server.ca, cert, key, token: 'bad' });
  expect(await target.send({ method: 'GET', path: '/version', headers: {} })).toMatchObject({
    code: 401,
    body: unauthorized().status,
  });
  expect(seen[0]?.authorization).toBe('Bearer bad');
  expect(seen[0]?.clientCertificate).toBeInstanceOf(Uint8Array);
  target.close();
  const other = new Target({ url: server.url, ca: server.ca, token: 'good' });
  expect((await other.send({ method: 'GET', path: '/version', headers: {} })).code).toBe(200);
  expect(seen.at(-1)?.clientCertificate).toBeUndefined();
  other.close();
  await server.close();
});

test('authenticates, impersonates and authorizes in this order', async () => {
  const asked: string[] = [];
  await using sandbox = await startSandbox({
    identity: () => ({
      authenticator: {
        authenticate: () => ({ username: 'joe', groups: [] }),
        reviewToken: () => undefined,
      },
      impersonation: {
        impersonate: (user, rawHeaders) => {
          const at = rawHeaders.findIndex(name => name.toLowerCase() === 'impersonate-user');
          asked.push(`${user.username} plays ${rawHeaders[at + 1]}`);
          return { username: rawHeaders[at + 1] ?? '', groups: [] };
        },
      },
      authorizer: {
        authorize: ({ user, verb, resource, namespace }) => {
          asked.push(`${user.username} ${verb} ${resource} ${namespace}`);
          return { allowed: verb === 'list', reason: verb === 'list' ? '' : 'because' };
        },
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [] }),
      },
    }),
  });
  const headers = { 'impersonate-user': 'jane' };
  expect((await sandbox.send('GET /api/v1/namespaces/x/pods', undefined, headers)).code).toBe(200);
  expect(await sandbox.send('GET /api/v1/namespaces/x/pods/p', undefined, headers)).toMatchObject({
    code: 403,
    body: {
      message:
        'pods "p" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "x": because',
    },
  });
  expect(asked).toEqual(['joe plays jane', 'jane list pods x', 'joe plays jane', 'jane get pods x']);
});

test('lets admission refuse every way of writing', async () => {
  const asked: string[] = [];
  await using sandbox = await startSandbox({
    identity: () => ({
      admission: {
        admit: ({ operation, resource, subresource, object, old }) => {
          if (object.metadata.name !== 'a') return;
          asked.push(`${operation} ${resource.plural}/${subresource} ${old === undefined ? 'new' : 'old'}`);
          if (object.metadata.labels?.['no'] !== undefined) throw unauthorized();
        },
      },
    }),
  });
  const configMap = '/api/v1/namespaces/default/configmaps';
  expect((await sandbox.send(`POST ${configMap}`, { metadata: { name: 'a', labels: { no: '' } } })).code).toBe(401);
  await sandbox.make(`POST ${configMap}`, { metadata: { name: 'a' } });
  expect((await sandbox.send(`PATCH ${configMap}/a`, { metadata: { labels: { no: '' } } })).code).toBe(401);
  await sandbox.make(`PUT ${configMap}/a`, { metadata: { name: 'a' }, data: { k: 'v' } });
  await sandbox.make(`DELETE ${configMap}/a`);
  await sandbox.make('POST /api/v1/nodes', { metadata: { name: 'a' } });
  await sandbox.make('PATCH /api/v1/nodes/a/status', { status: { phase: 'x' } });
  expect(asked).toEqual([
    'create configmaps/ new',
    'create configmaps/ new',
    'update configmaps/ old',
    'update configmaps/ old',
    'delete configmaps/ old',
    'create nodes/ new',
    'update nodes/status old',
  ]);
});
