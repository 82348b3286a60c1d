import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { startProxy } from '../../../test/kit/connect-proxy.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { bytesOf } from '../../../test/kit/payload-image.ts';
import { type Handler, type ServerOptions, startServer } from '../../../test/kit/tls-server.ts';
import { httpGet, type NetworkOptions } from './http.ts';

const signal = new AbortController().signal;
const authorization = new Secret('Basic c2VjcmV0');

async function serverOf(handler: Handler, options: ServerOptions = { protocol: 'http/1.1' }) {
  const server = await startServer(handler, options);
  onTestFinished(() => server.stop());
  return server;
}
const ok: Handler = (_, answer) => void answer.end('content');

function getter(options: Partial<NetworkOptions> = {}) {
  return httpGet({ proxyOf: () => undefined, plainOrigins: [], userAgent: 'wmco/test', ...options });
}

test('a login goes to the first server, and to none that a redirect leads to, not even back', async () => {
  const second = await serverOf((_, answer) => void answer.writeHead(307, { location: `${first.url}/end` }).end());
  const first = await serverOf(
    ({ path }, answer) => {
      if (path === '/end') answer.end('content');
      else answer.writeHead(302, { location: path === '/start' ? '/again' : `${second.url}/x` }).end();
    },
    { protocol: 'http/1.1', ca: second.ca },
  );
  const answer = await getter({ extraCa: first.ca.cert })(new URL(`${first.url}/start`), { authorization, signal });
  expect((await bytesOf(answer.body)).toString()).toBe('content');
  const seen = [...first.seen, ...second.seen].map(({ path, headers }) => [path, headers.authorization]);
  expect(seen).toEqual([
    ['/start', 'Basic c2VjcmV0'],
    ['/again', 'Basic c2VjcmV0'],
    ['/end', undefined],
    ['/x', undefined],
  ]);
});

test('trusts the CA that was given, and no other', async () => {
  const server = await serverOf(ok);
  const url = new URL(server.url);
  expect((await getter({ extraCa: server.ca.cert })(url, { signal })).status).toBe(200);
  expect(await rejectionOf(getter()(url, { signal }))).toMatchObject({
    code: 'PAYLOAD_DOWNLOAD_FAILED',
    message: expect.stringContaining('its certificate is not trusted') as string,
    remedy: expect.stringContaining('--ca-file') as string,
  });
});

test('never leaves TLS by a redirect, also not to loopback', async () => {
  const plain = await serverOf(ok, { protocol: 'plain' });
  const server = await serverOf((_, answer) => void answer.writeHead(301, { location: plain.url }).end());
  const error = await rejectionOf(getter({ extraCa: server.ca.cert })(new URL(server.url), { signal }));
  expect([error?.message, plain.seen]).toEqual([expect.stringContaining('redirects from https to http'), []]);
});

const plainRows: [url: string, plainOrigins: string[], isAllowed: boolean][] = [
  ['http://files.invalid/x', [], false],
  ['http://files.invalid/x', ['http://files.invalid'], true],
  ['http://files.invalid:81/x', ['http://files.invalid'], false],
  ['http://127.0.0.1.files.invalid/x', [], false],
];
for (const [url, plainOrigins, isAllowed] of plainRows)
  test(`${url} is ${isAllowed ? '' : 'not '}used without TLS when ${plainOrigins.join()} is named`, async () => {
    // Names are not looked up behind a proxy.
    await using closed = await startProxy(403);
    const get = getter({ plainOrigins, proxyOf: () => new Secret(`http://127.0.0.1:${closed.port}`) });
    const error = await rejectionOf(get(new URL(url), { signal }));
    expect(error?.message).toContain(isAllowed ? 'the proxy answered 403' : 'is not used without TLS');
  });

test('goes through a proxy, whose password is in no message', async () => {
  const server = await serverOf(ok);
  await using proxy = await startProxy();
  await using closed = await startProxy(407);
  const through = (port: number) =>
    getter({ extraCa: server.ca.cert, proxyOf: () => new Secret(`http://user:pa55word@127.0.0.1:${port}`) });
  const answer = await through(proxy.port)(new URL(server.url), { signal });
  expect((await bytesOf(answer.body)).toString()).toBe('content');
  expect(proxy.seen).toEqual([
    { path: `127.0.0.1:${server.port}`, authorization: expect.stringContaining('Basic') as string },
  ]);
  const error = await rejectionOf(through(closed.port)(new URL(server.url), { signal }));
  expect(error?.message).toContain('the proxy answered 407');
  expect(JSON.stringify([error?.message, error?.stack])).not.toContain('pa55word');
});
