import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import {
  agentKey,
  agentSubject,
  ca,
  hourMs,
  minuteMs,
  nodeName,
  showsKey,
  startMs,
} from '../../../test/kit/agent-certificates.ts';
import { agentCertificate, storedText } from '../../../test/kit/agent-certificates.ts';
import { generateKey, TestCa } from '../../../test/kit/certificates.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { factsOf, printCertificate, readCertificate, subjectProblem } from './certificate.ts';
import { agentIdentity } from './kept-identity.ts';

const label = 'C:\\k\\wicd-certs\\x.pem';
const good = storedText();
const { cert, key } = ca.issue(agentSubject());
const read = (text: string) => readCertificate(text, label);

test('reads whom a certificate is for and when', () => {
  expect(read(good)).toMatchObject({
    commonName: 'system:wicd-node:win1',
    organizations: ['system:wicd-nodes'],
    hasAlternativeNames: false,
    keyHash: agentKey.hash,
    notBeforeMs: startMs - 5 * minuteMs,
    notAfterMs: startMs + hourMs,
  });
});

test('keeps certificate and key unchanged, and hides the key', () => {
  const certificate = read(cert + key);
  expect(certificate.clientCertificate.certificate).toBe(cert);
  expect(certificate.clientCertificate.key.reveal()).toBe(key);
  expect(showsKey(`${inspect(certificate, { depth: 9 })}${JSON.stringify(certificate)}`)).toBe(false);
});

const forms: [name: string, text: string][] = [
  ['as we write it', cert + key],
  ['with the key in front', key + cert],
  ['with carriage returns', (cert + key).replaceAll('\n', '\r\n')],
  ['with text between', `subject=x\n${cert}\nkey\n${key}\n`],
  [
    'with EC parameters, as OpenSSL writes them',
    `${cert}-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${key}`,
  ],
];
for (const [name, text] of forms)
  test(`reads a file ${name}`, () => expect(printCertificate(read(text))).toBe(cert + key));

test('reads keys of other kinds', () => {
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const text = privateKey.export({ type, format: 'pem' });
    const leaf = ca.certify(agentSubject(), publicKey.export({ type: 'spki', format: 'der' }));
    expect(printCertificate(read(leaf + text))).toBe(leaf + text);
  }
});

test('keeps intermediate certificates behind the leaf, which alone counts', () => {
  const middle = new TestCa('middle').cert;
  const certificate = read(cert + middle + key);
  expect(certificate.clientCertificate.certificate).toBe(cert + middle);
  expect(certificate.commonName).toBe('system:wicd-node:win1');
});

const unusable: [name: string, text: string, why: string][] = [
  ['nothing', '', 'contains no certificate'],
  ['only a key', key, 'contains no certificate'],
  ['only a certificate', cert, 'contains no key'],
  ['two keys', cert + key + generateKey().key, 'contains several keys'],
  ['the key of another certificate', cert + generateKey().key, 'certificate and key do not belong together'],
  ['a key that is none', `${cert}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`, 'not in PEM form'],
  ['a certificate that is none', `-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${key}`, 'not in PEM'],
  ['a key cut short', (cert + key).slice(0, -30), 'has no END line'],
  ['a certificate cut short', cert.slice(0, 300) + key, 'line 1 has no END line'],
  ['zeros, as a power cut leaves them', '\0'.repeat(1500), 'contains no certificate'],
];
for (const [name, text, why] of unusable) {
  test(`rejects ${name} and shows none of it`, () => {
    const error = errorOf(() => read(text));
    expect(error).toMatchObject({
      code: 'AGENT_CERTIFICATE_UNUSABLE',
      message: expect.stringMatching(new RegExp(`^${label.replaceAll('\\', '\\\\')}: .*${why}`)),
    });
    expect(error?.remedy).not.toBe('');
    expect(showsKey(inspect(error))).toBe(false);
  });
}

test('reads or rejects any file content', () => {
  const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom(cert, key, cert.slice(0, 200), key.slice(30), '\n')));
  fc.assert(
    fc.property(pieces, parts => {
      try {
        return read(parts.join('')).commonName === 'system:wicd-node:win1';
      } catch (error) {
        return error instanceof AppError && error.code === 'AGENT_CERTIFICATE_UNUSABLE' && !showsKey(inspect(error));
      }
    }),
    { numRuns: 2000 },
  );
});

const subjects: [name: string, content: Parameters<typeof agentCertificate>[0], problem: string | undefined][] = [
  ['what was asked for', {}, undefined],
  ['another node', agentSubject('win2'), 'is for "system:wicd-node:win2", not for "system:wicd-node:win1"'],
  ['a node of which the name is a part', agentSubject('win11'), 'is for "system:wicd-node:win11"'],
  ['the kubelet of the node', { commonName: 'system:node:win1' }, 'is for "system:node:win1"'],
  ['no group', { organizations: [] }, 'is for the groups [], not for system:wicd-nodes alone'],
  ['another group', { organizations: ['system:masters'] }, 'is for the groups ["system:masters"]'],
  [
    'a second group',
    { organizations: ['system:wicd-nodes', 'system:masters'] },
    'is for the groups ["system:wicd-nodes","',
  ],
  ['a DNS name', { names: ['win1'] }, 'has subject alternative names'],
  ['an address', { names: ['10.0.0.1'] }, 'has subject alternative names'],
];
for (const [name, content, problem] of subjects) {
  test(`judges a certificate for ${name}`, () => {
    const found = subjectProblem(agentCertificate(content), agentIdentity(nodeName));
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });
}

test('gives an empty common name for a certificate without one', () => {
  expect(factsOf(ca.issue({ commonName: '' }).cert)).toMatchObject({ commonName: '', organizations: [] });
});
