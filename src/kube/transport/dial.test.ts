import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { TestCa } from '../../../test/kit/certificates.ts';
import { clientCertificate, json, type ServerOptions, startServer } from '../../../test/kit/tls-server.ts';
import { dial, type DialTarget, hostOf, portOf } from './dial.ts';

const never = new AbortController().signal;

const addresses: [string, string, number][] = [
  ['https://host:6443', 'host', 6443],
  ['https://host', 'host', 443],
  ['http://host', 'host', 80],
  ['https://10.0.0.1:1', '10.0.0.1', 1],
  ['https://[fd00::1]:6443', 'fd00::1', 6443],
  ['https://[::1]', '::1', 443],
];
for (const [url, host, port] of addresses) {
  test(`finds host and port of ${url}`, () =>
    expect([hostOf(new URL(url)), portOf(new URL(url))]).toEqual([host, port]));
}

async function serverWith(options: ServerOptions = {}) {
  const server = await startServer((_, answer) => json(answer, 200, {}), options);
  onTestFinished(() => server.stop());
  const target: DialTarget = {
    server: new URL(server.url),
    skipTlsVerify: false,
    trusted: server.ca.cert,
    clientCertificate: undefined,
  };
  return { server, target };
}

const protocols: [ServerOptions['protocol'] & string, string][] = [
  ['h2', 'h2'],
  ['http/1.1', 'http/1.1'],
  ['plain', 'http/1.1'],
];
for (const [protocol, want] of protocols) {
  test(`agrees on ${want} with a server of ${protocol}`, async () => {
    const { target } = await serverWith({ protocol });
    const { socket, protocol: agreed } = await dial(target, never);
    expect(agreed).toBe(want);
    socket.destroy();
  });
}

test('leaves no listener on the socket that would act later', async () => {
  const { target } = await serverWith();
  const controller = new AbortController();
  const { socket } = await dial(target, controller.signal);
  controller.abort();
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

test('shows the certificate it has', async () => {
  const ca = new TestCa();
  const { server, target } = await serverWith({ ca, askCertificate: true });
  const { socket } = await dial({ ...target, clientCertificate: clientCertificate(ca, 'me') }, never);
  expect(server.refused()).toBe(0);
  socket.destroy();
});

test('closes the connection of a server it does not trust', async () => {
  const { server, target } = await serverWith();
  await expect(dial({ ...target, trusted: new TestCa().cert }, never)).rejects.toMatchObject({
    code: expect.stringMatching(/CERT|ISSUER|VERIFY/),
  });
  await expect.poll(() => server.sockets.size).toBe(0);
});

test('closes the connection when the caller gives up in the middle of the handshake', async () => {
  let open = 0;
  const silent = createServer(socket => {
    open += 1;
    socket
      .on('error', () => undefined)
      .once('close', () => (open -= 1))
      .resume();
  });
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const target = {
    server: new URL(`https://127.0.0.1:${port}`),
    skipTlsVerify: true,
    trusted: undefined,
    clientCertificate: undefined,
  };
  const controller = new AbortController();
  const dialling = expect(dial(target, controller.signal)).rejects.toThrow('enough');
  await expect.poll(() => open).toBe(1);
  controller.abort(new Error('enough'));
  await dialling;
  await expect.poll(() => open).toBe(0);
});

test('does not begin when the caller has given up already', async () => {
  const { server, target } = await serverWith();
  await expect(dial(target, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  expect(server.accepted()).toBe(0);
});

test('reports a server that closes in the middle of the handshake', async () => {
  const closing = createServer(socket => void socket.on('error', () => undefined).end());
  await new Promise<void>(resolve => closing.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void closing.close());
  const { port } = closing.address() as AddressInfo;
  const target = {
    server: new URL(`https://127.0.0.1:${port}`),
    skipTlsVerify: true,
    trusted: undefined,
    clientCertificate: undefined,
  };
  await expect(dial(target, never)).rejects.toThrow(/disconnected|closed|hang up|reset/i);
});
