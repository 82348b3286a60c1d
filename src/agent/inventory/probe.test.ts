import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { TestCa } from '../../../test/kit/certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { probeServer } from './probe.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const never = new AbortController().signal;

/** A server whose certificate nobody trusts. */
async function serve(answer: RequestListener): Promise<string> {
  const { cert, key } = new TestCa('unknown').issue({ commonName: 'api', names: ['api.example.com'] });
  const server = createServer({ cert, key }, answer);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>(resolve => void server.close(() => resolve())));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const dated = (date: string | undefined, code = 200) =>
  serve((_request: unknown, response: ServerResponse) => {
    response.sendDate = false;
    response.writeHead(code, date === undefined ? {} : { date }).end('{}');
  });
const probe = (url: string, signal = never) => probeServer(url, manualClock(nowMs), signal);

const dates: [name: string, date: string | undefined, ahead: number | undefined][] = [
  ['the same time', 'Sun, 01 Mar 2026 12:00:00 GMT', 0],
  ['a clock that is ahead', 'Sun, 01 Mar 2026 11:50:00 GMT', 600_000],
  ['a clock that is behind', 'Sun, 01 Mar 2026 12:00:07 GMT', -7000],
  ['no time', undefined, undefined],
  ['a time that is none', 'yesterday', undefined],
];
for (const [name, date, clockAheadMs] of dates) {
  test(`reaches a server that reports ${name}`, async () => {
    const url = await dated(date);
    expect(await probe(url)).toEqual({ url, ...(clockAheadMs !== undefined && { clockAheadMs }) });
  });
}

test('counts a rejection as reachable', async () => {
  const url = await dated('Sun, 01 Mar 2026 12:00:00 GMT', 403);
  expect(await probe(url)).toEqual({ url, clockAheadMs: 0 });
});

test('sends no credential', async () => {
  const seen: unknown[] = [];
  const url = await serve((request: IncomingMessage, response: ServerResponse) => {
    seen.push([request.method, request.url, request.headers.authorization]);
    response.end();
  });
  await probe(`${url}/`);
  expect(seen).toEqual([['GET', '/version', undefined]]);
});

test('reports that the connection is refused', async () => {
  expect(await probe('https://127.0.0.1:1')).toEqual({
    url: 'https://127.0.0.1:1',
    problem: expect.stringContaining('ECONNREFUSED') as string,
  });
});

test('reports a server that does not speak TLS', async () => {
  const server = createTcpServer(socket => socket.end('SSH-2.0-x\r\n'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { problem } = await probe(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(problem).toMatch(/./);
});

test('ends with the reason of the signal', async () => {
  const server = createTcpServer(() => undefined);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const stop = new AbortController();
  const probing = probe(`https://127.0.0.1:${(server.address() as AddressInfo).port}`, stop.signal);
  stop.abort(new Error('stop'));
  await expect(probing).rejects.toThrow('stop');
});
