import { createSecureContext } from 'node:tls';
import { expect, test } from 'vitest';
import { readTlsProfile, type TlsSettings, tlsInForce } from '#cluster/tls-profile.ts';
import { apiServer, readObjects } from '../../../test/kit/openshift-objects.ts';
import { tlsOptions } from './tls-settings.ts';

const cases: [name: string, settings: TlsSettings | undefined, want: object][] = [
  ['no say of the cluster', undefined, { minVersion: 'TLSv1.2' }],
  ['a version', { minTlsVersion: 'VersionTLS13', ciphers: [] }, { minVersion: 'TLSv1.3' }],
  ['an old version', { minTlsVersion: 'VersionTLS10', ciphers: [] }, { minVersion: 'TLSv1' }],
  ['a version nobody knows', { minTlsVersion: 'VersionTLS99', ciphers: [] }, { minVersion: 'TLSv1.2' }],
  ['ciphers', { minTlsVersion: 'VersionTLS11', ciphers: ['A', 'B'] }, { minVersion: 'TLSv1.1', ciphers: 'A:B' }],
];
for (const [name, settings, want] of cases) {
  test(`knows what to do with ${name}`, () => expect(tlsOptions(settings)).toEqual(want));
}

test.each([['Old'], ['Intermediate'], ['Modern']])('the profile %s is one that Node.js can use', type => {
  const [object] = readObjects([apiServer({ tlsSecurityProfile: { type }, tlsAdherence: 'StrictAllComponents' })]);
  const settings = tlsInForce(readTlsProfile(object));
  expect(settings).toBeDefined();
  expect(() => createSecureContext(tlsOptions(settings))).not.toThrow();
});
