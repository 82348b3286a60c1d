import { X509Certificate } from 'node:crypto';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { issueServingPair } from './serving-pair.ts';

const nowMs = Date.now();
const dayMs = 86_400_000;
const options = {
  commonName: 'windows-exporter',
  authorityName: 'windows-exporter-ca',
  dnsNames: ['windows-exporter.wmco.svc', 'windows-exporter.wmco.svc.cluster.local'],
  nowMs,
  lifetimeMs: 730 * dayMs,
};

test('the certificate is for all names, for servers only, and signed by its CA', () => {
  const pair = issueServingPair(options);
  const [certificate, authority] = [new X509Certificate(pair.certificate), new X509Certificate(pair.authority)];
  for (const name of options.dnsNames) expect(certificate.checkHost(name)).toBe(name);
  expect(certificate.checkHost('windows-exporter.other.svc')).toBeUndefined();
  expect([certificate.ca, authority.ca]).toEqual([false, true]);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(certificate.checkIssued(authority)).toBe(true);
  expect(certificate.verify(authority.publicKey)).toBe(true);
  expect(Math.round((certificate.validToDate.getTime() - nowMs) / dayMs)).toBe(730);
  expect(pair.key.reveal()).toContain('BEGIN PRIVATE KEY');
});

test('two pairs have nothing in common', () => {
  const [one, other] = [issueServingPair(options), issueServingPair(options)];
  expect(one.key.reveal()).not.toBe(other.key.reveal());
  expect(new X509Certificate(one.certificate).verify(new X509Certificate(other.authority).publicKey)).toBe(false);
});

/** A TLS handshake with the server of the pair; gives the error of the client. */
async function handshake(servername: string, ca: string, { certificate, key } = issueServingPair(options)) {
  const server = createServer({ cert: certificate, key: key.reveal() }, socket => socket.end());
  onTestFinished(() => void server.close());
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  return new Promise<string>(answer => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername, ca }, () => answer('accepted'));
    socket.on('error', error => answer((error as NodeJS.ErrnoException).code ?? error.message));
    socket.resume();
  });
}

test('a client that trusts the CA accepts the server by its name only', async () => {
  const pair = issueServingPair(options);
  const stranger = issueServingPair(options).authority;
  expect(await handshake('windows-exporter.wmco.svc', pair.authority, pair)).toBe('accepted');
  expect(await handshake('win-1.example.com', pair.authority, pair)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(await handshake('windows-exporter.wmco.svc', stranger, pair)).not.toBe('accepted');
});
