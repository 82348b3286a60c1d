import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestCa } from '../../../test/kit/certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { nodes } from '../../../test/kit/scripted-client.ts';
import { type Handler, json, startServer } from '../../../test/kit/tls-server.ts';
import { createClient } from '../http-client.ts';
import { loadKubeconfig } from './load-kubeconfig.ts';

/** Files on disk, a kubeconfig that names them, a client made from it, and a server that sees what they become. */
async function withFiles(user: object, files: Record<string, string>, handler: Handler) {
  const folder = await mkdtemp(join(tmpdir(), 'reload-'));
  const ca = new TestCa();
  const server = await startServer(handler, { ca, askCertificate: true });
  const write = async (more: Record<string, string>) => {
    for (const [name, text] of Object.entries(more)) await writeFile(join(folder, name), text);
  };
  await write({ 'ca.crt': ca.cert, ...files });
  const config = {
    clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const clock = manualClock();
  const client = createClient(loadKubeconfig(JSON.stringify(config), { folder, clock }), {
    clock,
    pingIntervalMs: 1e9,
  });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
    await rm(folder, { recursive: true });
  });
  return { ca, server, write, client, clock, folder };
}

const answer: Handler = (_, to) => json(to, 200, {});

test('a certificate that is replaced on disk is shown on a new connection, within seconds and without a pause', async () => {
  const user = { 'client-certificate': 'c.crt', 'client-key': 'c.key' };
  const { ca, server, write, client, clock } = await withFiles(user, {}, answer);
  for (const commonName of ['one', 'two', 'three']) {
    const { cert, key } = ca.issue({ commonName });
    await write({ 'c.crt': cert, 'c.key': key });
    await clock.advance(10_000);
    await client.get(nodes, 'n');
    await client.get(nodes, 'n');
  }
  expect(server.seen.map(({ client: name }) => name)).toEqual(['one', 'one', 'two', 'two', 'three', 'three']);
  expect(server.accepted()).toBe(3);
  await expect.poll(() => server.sockets.size).toBe(1);
});

test('a pair that is being replaced is not used until both halves are there', async () => {
  const user = { 'client-certificate': 'c.crt', 'client-key': 'c.key' };
  const { ca, server, write, client, clock } = await withFiles(user, {}, answer);
  const [one, two] = [ca.issue({ commonName: 'one' }), ca.issue({ commonName: 'two' })];
  for (const files of [{ 'c.crt': one.cert, 'c.key': one.key }, { 'c.crt': two.cert }, { 'c.key': two.key }]) {
    await write(files);
    await clock.advance(10_000);
    await client.get(nodes, 'n');
  }
  expect(server.seen.map(({ client: name }) => name)).toEqual(['one', 'one', 'two']);
});

test('a CA that is replaced on disk is trusted on a new connection', async () => {
  const { ca, server, write, client, clock } = await withFiles({}, {}, answer);
  await client.get(nodes, 'n');
  await write({ 'ca.crt': `${new TestCa().cert}${ca.cert}` });
  await clock.advance(10_000);
  await client.get(nodes, 'n');
  await write({ 'ca.crt': new TestCa().cert });
  await clock.advance(10_000);
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({ code: 'API_UNTRUSTED' });
  await write({ 'ca.crt': ca.cert });
  await clock.advance(10_000);
  await client.get(nodes, 'n');
  expect(server.seen).toHaveLength(3);
});

test('a token that is replaced on disk is used after a minute, or at once when the old one is refused', async () => {
  let valid = 'one';
  const { server, write, client, clock } = await withFiles({ tokenFile: 'token' }, { token: 'one' }, (request, to) =>
    json(to, request.headers.authorization === `Bearer ${valid}` ? 200 : 401, {}),
  );
  await client.get(nodes, 'n');
  valid = 'two';
  await write({ token: 'two' });
  await client.get(nodes, 'n');
  await write({ token: 'three' });
  await clock.advance(59_000);
  await client.get(nodes, 'n');
  valid = 'three';
  await clock.advance(1000);
  await client.get(nodes, 'n');
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer one',
    'Bearer one',
    'Bearer two',
    'Bearer two',
    'Bearer three',
  ]);
  expect(server.accepted()).toBe(1);
});

test('keeps the token while its file is missing', async () => {
  const { client, clock, folder, server } = await withFiles({ tokenFile: 'token' }, { token: 'one' }, answer);
  await client.get(nodes, 'n');
  await rm(join(folder, 'token'));
  await clock.advance(120_000);
  await client.get(nodes, 'n');
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer one']);
});

test('a file that was never there is named', async () => {
  const { client } = await withFiles({ tokenFile: 'token' }, {}, answer);
  await expect(client.get(nodes, 'n')).rejects.toMatchObject({
    code: 'CREDENTIAL_UNREADABLE',
    message: expect.stringMatching(/^token: ".*\/token" cannot be read$/),
  });
});
