import { execFile } from 'node:child_process';
import { createHash, createPublicKey } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { TestCa } from '../../test/kit/certificates.ts';
import { readIssued } from './certificate-read.ts';

const notAfter = Date.parse('2027-01-02T03:04:05Z');
const { cert, key } = new TestCa().issue({ commonName: 'system:wicd-node:win-1', organizations: ['CN=x'], notAfter });
const keyHash = createHash('sha256')
  .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
  .digest('hex');

test('reads name, key and end of a certificate', () => {
  expect(readIssued(cert)).toEqual({ commonName: 'system:wicd-node:win-1', keyHash, notAfterMs: notAfter });
});

test('TLS works in a program that reads a certificate first', async () => {
  const module = new URL('certificate-read.ts', import.meta.url).href;
  const program = `
    const { subjectOf } = await import(${JSON.stringify(module)});
    const { X509Certificate } = await import('node:crypto');
    const subject = subjectOf(new X509Certificate(${JSON.stringify(cert)}));
    console.log(JSON.stringify(subject), typeof (await import('node:tls')).createSecureContext);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  expect(stdout.trim()).toBe('{"O":["CN=x"],"CN":["system:wicd-node:win-1"]} function');
});

test('reads the first certificate of a chain', () => {
  expect(readIssued(cert + new TestCa().cert)?.commonName).toBe('system:wicd-node:win-1');
});

for (const [title, text] of [
  ['an empty text', ''],
  ['a text that is no PEM', 'x'],
  ['a private key', key],
  ['a broken certificate', cert.replace(/M/, '!')],
] as const) {
  test(`reads no certificate from ${title}`, () => expect(readIssued(text)).toBeUndefined());
}
