import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { bytesOf } from '../../../test/kit/payload-image.ts';
import { type Answer, json, startServer, type TestServer } from '../../../test/kit/tls-server.ts';
import { parseChallenge } from './challenge.ts';
import { httpGet } from './http.ts';
import { openRepository } from './registry.ts';

const challenges: [header: string | undefined, want: unknown][] = [
  ['Basic realm="x"', { scheme: 'basic' }],
  ['Bearer realm="https://a/t",service="s",scope="x"', { scheme: 'bearer', realm: 'https://a/t', service: 's' }],
  ['bearer scope="a,b", service="s" , realm="https://a/t"', { scheme: 'bearer', realm: 'https://a/t', service: 's' }],
  ['Basic realm="x", Bearer realm="https://a/t"', { scheme: 'bearer', realm: 'https://a/t', service: undefined }],
  ['Bearer service="s"', undefined],
  ['Negotiate', undefined],
  [undefined, undefined],
  [`Bearer realm="${'x'.repeat(9000)}"`, undefined],
];
for (const [header, want] of challenges)
  test(`reads the challenge ${String(header).slice(0, 80)}`, () => expect(parseChallenge(header)).toEqual(want));

const signal = new AbortController().signal;
const login = new Secret('dXNlcjpwYTU1d29yZA==');
type Reply = (answer: Answer, path: string, authorization: string | undefined) => void;

async function serverOf(reply: Reply, options: Parameters<typeof startServer>[1] = { protocol: 'http/1.1' }) {
  const server = await startServer(
    ({ path, headers }, answer) => reply(answer, path, headers['authorization'] as string | undefined),
    options,
  );
  onTestFinished(() => server.stop());
  return server;
}

const challenge = (answer: Answer, value: string) => void answer.writeHead(401, { 'www-authenticate': value }).end();
const repositoryIn = (server: TestServer, mirror?: URL) => {
  const get = httpGet({
    extraCa: server.ca.cert,
    proxyOf: () => undefined,
    plainOrigins: [],
    userAgent: 'wmco/test',
  });
  const loginOf = (host: string) => (host === `127.0.0.1:${server.port}` ? login : undefined);
  return openRepository(`127.0.0.1:${server.port}/team/image`, { get, loginOf, registryMirror: mirror });
};
const pull = async (server: TestServer, mirror?: URL) =>
  (await bytesOf((await repositoryIn(server, mirror).get('manifests/1', {}, signal)).body)).toString();

describe('a login', () => {
  test('is sent only when the registry wants it, and its token not to where blobs are stored', async () => {
    const store = await serverOf(answer => void answer.end('blob'));
    const registry = await serverOf(
      (answer, path, authorization) => {
        if (path.startsWith('/token')) return json(answer, 200, { access_token: 'abc.def' });
        if (authorization !== 'Bearer abc.def')
          return challenge(answer, `Bearer realm="${registry.url}/token",service="s"`);
        return void answer.writeHead(307, { location: `${store.url}/signed?key=1` }).end();
      },
      { protocol: 'http/1.1', ca: store.ca },
    );
    expect(await pull(registry)).toBe('blob');
    expect([...registry.seen, ...store.seen].map(({ path, headers }) => [path, headers['authorization']])).toEqual([
      ['/v2/team/image/manifests/1', undefined],
      ['/token?service=s&scope=repository%3Ateam%2Fimage%3Apull', `Basic ${login.reveal()}`],
      ['/v2/team/image/manifests/1', 'Bearer abc.def'],
      ['/signed?key=1', undefined],
    ]);
  });

  const refused: [about: string, realm: (server: TestServer) => string, error: string][] = [
    ['to a service without TLS', () => 'http://127.0.0.1:1/token', 'is not an https URL'],
    ['to a file', () => 'file:///etc/passwd', 'is not an https URL'],
    ['to a service whose URL has a login', () => 'https://a:b@127.0.0.1/token', 'is not an https URL'],
    ['again and again', ({ url }) => `${url}/token`, 'it refuses the login'],
    ['for a token that would break a header', ({ url }) => `${url}/broken`, 'has no token'],
    ['for an answer without end', ({ url }) => `${url}/long`, 'is too long'],
  ];
  for (const [about, realm, error] of refused)
    test(`does not go ${about}`, async () => {
      const registry = await serverOf((answer, path) => {
        if (path.startsWith('/token')) return json(answer, 200, { token: 'abc' });
        if (path.startsWith('/broken')) return json(answer, 200, { token: 'a\r\nb' });
        if (path.startsWith('/long')) return void answer.end('x'.repeat(2_000_000));
        return challenge(answer, `Bearer realm="${realm(registry)}"`);
      });
      const found = await rejectionOf(pull(registry));
      expect([found?.code, found?.message]).toEqual(['PAYLOAD_DOWNLOAD_FAILED', expect.stringContaining(error)]);
      expect(`${found?.message}${found?.remedy}`).not.toContain(login.reveal());
    });

  test('of a registry does not go to its mirror, whose paths have a prefix', async () => {
    const mirror = await serverOf(answer => void answer.end('copy'), { protocol: 'plain' });
    expect(await pull(mirror, new URL(`http://127.0.0.1:${mirror.port}/copies/`))).toBe('copy');
    expect(mirror.seen.map(({ path }) => path)).toEqual(['/v2/copies/team/image/manifests/1']);
  });
});

test('names of Docker Hub are those of its registry', () => {
  const options = {
    get: () => Promise.reject(new Error('not used')),
    loginOf: () => undefined,
    registryMirror: undefined,
  };
  expect(['docker.io/nginx', 'docker.io/a/b', 'quay.io/a'].map(name => openRepository(name, options).url)).toEqual([
    'https://registry-1.docker.io/v2/library/nginx',
    'https://registry-1.docker.io/v2/a/b',
    'https://quay.io/v2/a',
  ]);
});
