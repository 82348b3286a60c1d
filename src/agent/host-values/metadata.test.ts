import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { ModelClock } from '../../../test/kit/model-host.ts';
import { httpMetadata } from './metadata.ts';

const never = new AbortController().signal;

async function serve(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

const ask = (url: string, signal = never, clock = systemClock) =>
  httpMetadata(clock).ask({ method: 'PUT', url, headers: { 'X-Header': 'value' } }, signal);

test('sends method and headers, and gives status, headers and text', async () => {
  const seen: IncomingMessage[] = [];
  const url = await serve((request, response) => {
    seen.push(request);
    response.writeHead(201, { 'Metadata-Flavor': 'Google', 'Set-Cookie': ['a', 'b'] }).end('grüße');
  });
  const { status, headers, text } = await ask(url);
  expect([status, headers['metadata-flavor'], text]).toEqual([201, 'Google', 'grüße']);
  expect(seen[0]).toMatchObject({ method: 'PUT', url: '/x', headers: { 'x-header': 'value' } });
});

test('gives an answer of any status', async () => {
  expect(await ask(await serve((_, response) => response.writeHead(404).end()))).toMatchObject({
    status: 404,
    text: '',
  });
});

test('ignores the proxy of the environment', async () => {
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:9');
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await ask(await serve((_, response) => response.end('direct')))).toMatchObject({ text: 'direct' });
});

test('fails when the connection is refused', async () => {
  await expect(ask('http://127.0.0.1:9/x')).rejects.toThrow(/ECONNREFUSED/);
});

test('gives up after two seconds', async () => {
  const clock = new ModelClock();
  await expect(ask(await serve(() => undefined), never, clock)).rejects.toThrow('within 2 s');
  expect(clock.ms).toBe(2000);
});

test('gives up when aborted', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort(new Error('stopping')));
  await expect(ask(url, stop.signal)).rejects.toThrow('stopping');
});

test('rejects an endless response', async () => {
  const url = await serve((_, response) => response.end('x'.repeat(17_000)));
  await expect(ask(url)).rejects.toThrow('more than 16384 bytes');
});

test('fails when the answer breaks off', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'Content-Length': '100' }).write('half', () => response.destroy());
  });
  await expect(ask(url)).rejects.toThrow(/aborted|reset|hang up/i);
});
