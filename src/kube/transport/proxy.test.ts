import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import { startProxy } from '../../../test/kit/connect-proxy.ts';
import { json, startServer } from '../../../test/kit/tls-server.ts';
import { readText } from './body.ts';
import { Transport } from './transport.ts';

const { signal } = new AbortController();
const password = 'never-show-this';

async function through(proxyUrl: string, protocol: 'h2' | 'http/1.1' | 'plain' = 'h2', connectTimeoutMs = 10_000) {
  const server = await startServer((_, answer) => json(answer, 200, { ok: true }), { protocol });
  const transport = new Transport(server.connection({ proxyUrl: new Secret(proxyUrl) }), { connectTimeoutMs });
  onTestFinished(async () => {
    await transport.close();
    await server.stop();
  });
  const ask = async () => {
    const exchange = await transport.send({ method: 'GET', path: '/x', headers: {} }, {}, signal);
    return readText(exchange, { name: 'GET /x', signal });
  };
  return { server, ask };
}

for (const protocol of ['h2', 'http/1.1', 'plain'] as const) {
  test(`reaches a server of ${protocol} through a proxy`, async () => {
    await using proxy = await startProxy();
    const { server, ask } = await through(`http://127.0.0.1:${proxy.port}`, protocol);
    expect([await ask(), await ask()]).toEqual(['{"ok":true}', '{"ok":true}']);
    expect(proxy.seen).toEqual([{ path: `127.0.0.1:${server.port}`, authorization: undefined }]);
  });
}

test('sends the decoded password to the proxy only', async () => {
  await using proxy = await startProxy();
  const { server, ask } = await through(`http://us%40er:p%3Aw@127.0.0.1:${proxy.port}`);
  await ask();
  expect(proxy.seen[0]?.authorization).toBe(`Basic ${Buffer.from('us@er:p:w').toString('base64')}`);
  expect(JSON.stringify(server.seen[0]?.headers)).not.toContain('proxy');
});

const answers: [string, number | 'silence', string, string][] = [
  ['wants a password', 407, 'API_UNREACHABLE', 'the proxy answered 407 to CONNECT'],
  ['forbids the tunnel', 403, 'API_UNREACHABLE', 'the proxy answered 403 to CONNECT'],
  ['cannot reach the server', 502, 'API_UNREACHABLE', 'the proxy answered 502 to CONNECT'],
  ['says nothing', 'silence', 'API_DEADLINE', 'no response within 0.2 s'],
];
for (const [name, answer, code, words] of answers) {
  test(`reports of a proxy that ${name}, without its address`, async () => {
    await using proxy = await startProxy(answer);
    const timeoutMs = answer === 'silence' ? 200 : 10_000;
    const { ask } = await through(`http://user:${password}@127.0.0.1:${proxy.port}`, 'h2', timeoutMs);
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words), remedy: expect.stringMatching(/./) });
    expect(String(error) + String((error as Error).cause)).not.toMatch(new RegExp(`${password}|:${proxy.port}`));
  });
}

test('reports of a proxy that is not there', async () => {
  const proxy = await startProxy();
  await proxy.stop();
  const { ask } = await through(`http://user:${password}@127.0.0.1:${proxy.port}`);
  const error = await ask().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'API_UNREACHABLE', message: 'the proxy cannot be used: ECONNREFUSED' });
});

test('reports of a proxy that is not trusted', async () => {
  await using proxy = await startProxy('tunnel', new TestCa());
  const { ask } = await through(`https://127.0.0.1:${proxy.port}`);
  await expect(ask()).rejects.toMatchObject({
    code: 'API_UNREACHABLE',
    message: expect.stringContaining('the proxy cannot be used'),
  });
});

for (const url of ['socks5://127.0.0.1:1080', `user:${password}@host`, password, '']) {
  test(`rejects ${url === '' ? 'nothing' : url.slice(0, 6)} as the address of a proxy, without showing it`, async () => {
    const { ask } = await through(url);
    const error = await ask().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'API_UNREACHABLE', message: 'proxy-url is not an http or https URL' });
  });
}
