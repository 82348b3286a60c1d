import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { distinguishedName } from '#base/certificate-write.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { systemClock } from '../../../base/clock.ts';
import { createAuthority, issueClientPair, issueServerPair } from './ca.ts';
import { readCertificate } from './certificate-parts.ts';

const clock = manualClock(Date.UTC(2030, 0, 2, 3, 4, 5));
const dayMs = 24 * 3_600_000;
const ca = createAuthority('test authority', clock);
const authority = new X509Certificate(ca.certificate);
const parse = (pem: string) => new X509Certificate(pem);
const extensionsOf = (pem: string) => readCertificate(parse(pem).raw)?.extensions ?? new Map<string, Uint8Array>();

test('an authority signs itself and may sign others', () => {
  expect(authority.ca).toBe(true);
  expect(authority.subject).toBe('CN=test authority');
  expect(authority.issuer).toBe('CN=test authority');
  expect(authority.verify(authority.publicKey)).toBe(true);
  expect(authority.checkPrivateKey(createPrivateKey(ca.key))).toBe(true);
});

test('an authority lasts for ten years, from a little before now', () => {
  expect(authority.validFromDate.getTime()).toBe(clock.now() - 300_000);
  expect(authority.validToDate.getTime()).toBe(clock.now() + 3650 * dayMs);
  expect(ca.notAfter).toBe(authority.validToDate.getTime());
});

test('authorities have keys and serial numbers of their own', () => {
  const other = createAuthority('test authority', clock);
  expect(other.key).not.toBe(ca.key);
  expect(parse(other.certificate).serialNumber).not.toBe(authority.serialNumber);
});

test('a client certificate names user and groups and is for clients only', () => {
  const { certificate, key } = issueClientPair(ca, { commonName: 'jane', organizations: ['dev', 'ops'] }, clock);
  const parsed = parse(certificate);
  expect(parsed.subject).toBe('O=dev\nO=ops\nCN=jane');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(parsed.ca).toBe(false);
  expect(parsed.checkIssued(authority)).toBe(true);
  expect(parsed.verify(authority.publicKey)).toBe(true);
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(parsed.subjectAltName).toBeUndefined();
  expect(parsed.validToDate.getTime()).toBe(clock.now() + 365 * dayMs);
});

test('a server certificate names hosts and addresses of both families', () => {
  const { certificate } = issueServerPair(ca, ['api.example', '127.0.0.1', '::1'], clock);
  const parsed = parse(certificate);
  expect(parsed.subject).toBe('CN=api.example');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(parsed.checkHost('api.example')).toBe('api.example');
  expect(parsed.checkHost('other.example')).toBeUndefined();
  expect(parsed.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(parsed.checkIP('::1')).toBe('::1');
});

test('a server certificate without names still has a subject', () => {
  const parsed = parse(issueServerPair(ca, [], clock).certificate);
  expect(parsed.subject).toBe('CN=server');
  expect(parsed.subjectAltName).toBeUndefined();
});

test('a leaf names the key of its authority and its own', () => {
  const { certificate } = issueClientPair(ca, { commonName: 'jane' }, clock);
  const own = extensionsOf(ca.certificate).get('2.5.29.14')?.slice(2);
  const named = extensionsOf(certificate).get('2.5.29.35')?.slice(4);
  expect(named).toEqual(own);
  expect(extensionsOf(certificate).get('2.5.29.14')).toHaveLength(22);
  expect(extensionsOf(ca.certificate).has('2.5.29.35')).toBe(false);
});

test('no certificate outlives its authority', () => {
  const late = manualClock(ca.notAfter - dayMs);
  const { certificate } = issueClientPair(ca, { commonName: 'jane' }, late);
  expect(parse(certificate).validToDate.getTime()).toBe(ca.notAfter);
});

test('alternative names of every kind are written, and the list is critical without a subject', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = { dnsNames: ['a.b'], ipAddresses: ['1.2.3.4', 'no address'], emailAddresses: ['a@b'], uris: ['x://y'] };
  const content = {
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    usages: [],
    names,
    notBefore: clock.now(),
    notAfter: clock.now() + dayMs,
  };
  const parsed = parse(ca.issue({ ...content, subject: distinguishedName({ commonName: 'x' }) }));
  expect(parsed.subjectAltName).toBe('DNS:a.b, email:a@b, IP Address:1.2.3.4, URI:x://y');
  expect(parsed.keyUsage).toBeUndefined();
  const critical = Uint8Array.of(0x55, 0x1d, 0x11, 0x01, 0x01, 0xff).toHex();
  expect(parsed.raw.toHex()).not.toContain(critical);
  expect(parse(ca.issue({ ...content, subject: Uint8Array.of(0x30, 0) })).raw.toHex()).toContain(critical);
});

test('a server and a client that trust the authority shake hands', async () => {
  const real = createAuthority('real', systemClock);
  const server = issueServerPair(real, ['localhost', '127.0.0.1'], systemClock);
  const client = issueClientPair(real, { commonName: 'jane', organizations: ['dev'] }, systemClock);
  const listener = createServer({
    key: server.key,
    cert: server.certificate,
    ca: real.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const accepted = once(listener, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({ port, host: '127.0.0.1', key: client.key, cert: client.certificate, ca: real.certificate });
  await once(socket, 'secureConnect');
  const [peer] = await accepted;
  expect(socket.authorized).toBe(true);
  expect(peer.getPeerCertificate().subject).toEqual(expect.objectContaining({ CN: 'jane', O: 'dev' }));
  socket.destroy();
  peer.destroy();
  await new Promise(resolve => listener.close(resolve));
});
