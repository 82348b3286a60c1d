import { createPublicKey, X509Certificate } from 'node:crypto';
import { connect, createServer } from 'node:tls';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { selfSigned } from './self-signed.ts';

const nowMs = Date.UTC(2026, 2, 1, 12);
const pair = selfSigned('windows-machine-config-operator', nowMs);
const certificate = new X509Certificate(pair.certificate);

test('is for its name, and signed by itself', () => {
  expect(certificate.subject).toBe('CN=windows-machine-config-operator');
  expect(certificate.issuer).toBe(certificate.subject);
  expect(certificate.subjectAltName).toBe('DNS:windows-machine-config-operator');
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.ca).toBe(false);
});

test('fits its key', () => {
  const fromKey = createPublicKey(pair.key.reveal()).export({ type: 'spki', format: 'pem' });
  expect(certificate.publicKey.export({ type: 'spki', format: 'pem' })).toBe(fromKey);
});

test('is valid since yesterday, and for years', () => {
  expect(certificate.validFromDate.getTime()).toBe(nowMs - 86_400_000);
  expect(certificate.validToDate.getTime()).toBeGreaterThan(nowMs + 5 * 365 * 86_400_000);
});

test('may be used by servers only', () => {
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
});

test('is another one each time', () => {
  const other = selfSigned('windows-machine-config-operator', nowMs);
  expect(new X509Certificate(other.certificate).serialNumber).not.toBe(certificate.serialNumber);
  expect(other.key.reveal()).not.toBe(pair.key.reveal());
});

test('shows its key to no log by accident', () => {
  expect(`${inspect(pair)}${JSON.stringify(pair)}`).not.toContain('PRIVATE KEY');
});

test('serves TLS to clients that trust it', async () => {
  const server = createServer({ cert: pair.certificate, key: pair.key.reveal() }, socket => socket.end('hello'));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const name = 'windows-machine-config-operator';
  const heard = await new Promise<string>((resolve, reject) => {
    // Node's clock is not the one of the certificate, but both are within its years.
    const socket = connect({ port, host: '127.0.0.1', servername: name, ca: pair.certificate });
    socket.once('error', reject).on('data', data => resolve(data.toString()));
  });
  expect(heard).toBe('hello');
  await new Promise(resolve => server.close(resolve));
});
