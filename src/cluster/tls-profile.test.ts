import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import { apiServer, type PlainObject } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { honorsTlsProfile, readTlsProfile, tlsInForce } from './tls-profile.ts';

const read = (spec: PlainObject) => readTlsProfile(readObject(apiServer(spec)));
const profile = (tlsSecurityProfile: unknown) => read({ tlsSecurityProfile });

const failure = (tlsSecurityProfile: unknown) => errorOf(() => profile(tlsSecurityProfile));

const known: [name: string, profile: unknown, minTlsVersion: string, ciphers: number][] = [
  ['no profile', undefined, 'VersionTLS12', 11],
  ['null', null, 'VersionTLS12', 11],
  ['an empty profile', {}, 'VersionTLS12', 11],
  ['an empty type', { type: '' }, 'VersionTLS12', 11],
  ['Intermediate', { type: 'Intermediate', intermediate: {} }, 'VersionTLS12', 11],
  ['Old', { type: 'Old', old: {} }, 'VersionTLS10', 29],
  ['Modern', { type: 'Modern', modern: null }, 'VersionTLS13', 3],
  ['Custom', { type: 'Custom', custom: { minTLSVersion: 'VersionTLS11', ciphers: ['A', 'B'] } }, 'VersionTLS11', 2],
  ['Custom without ciphers', { type: 'Custom', custom: { minTLSVersion: 'VersionTLS13' } }, 'VersionTLS13', 0],
  ['Intermediate with a left-over', { type: 'Intermediate', custom: { minTLSVersion: '?' } }, 'VersionTLS12', 11],
];
for (const [name, tlsSecurityProfile, minTlsVersion, ciphers] of known)
  test(`reads ${name} as ${minTlsVersion} with ${ciphers} ciphers`, () => {
    const got = profile(tlsSecurityProfile);
    expect([got.minTlsVersion, got.ciphers.length]).toEqual([minTlsVersion, ciphers]);
  });

test('means Intermediate without an APIServer object', () => {
  expect(readTlsProfile(undefined)).toEqual(profile({ type: 'Intermediate' }));
});

test('each profile allows what the stricter one allows, in the same order and without repetition', () => {
  const [old, intermediate, modern] = ['Old', 'Intermediate', 'Modern'].map(type => profile({ type }).ciphers);
  expect(intermediate?.slice(0, modern?.length)).toEqual(modern);
  expect(old?.slice(0, intermediate?.length)).toEqual(intermediate);
  expect(new Set(old).size).toBe(old?.length);
});

test('only the old profile allows ciphers without forward secrecy', () => {
  const weak = (type: string) => profile({ type }).ciphers.filter(name => /^(AES|DES)/.test(name));
  expect(weak('Old')).toContain('DES-CBC3-SHA');
  expect([weak('Intermediate'), weak('Modern')]).toEqual([[], []]);
});

test('keeps the ciphers of a custom profile as they are written', () => {
  const ciphers = ['ECDHE-RSA-AES128-GCM-SHA256', 'TLS_AES_128_GCM_SHA256'];
  expect(profile({ type: 'Custom', custom: { minTLSVersion: 'VersionTLS12', ciphers } }).ciphers).toEqual(ciphers);
});

test('hands out lists that a caller may change', () => {
  profile({ type: 'Modern' }).ciphers.push('NULL');
  expect(profile({ type: 'Modern' }).ciphers).not.toContain('NULL');
});

const invalid: [name: string, profile: unknown, part: string][] = [
  ['Custom without a block', { type: 'Custom' }, 'type is Custom, but custom is missing'],
  ['Custom with null', { type: 'Custom', custom: null }, 'type is Custom, but custom is missing'],
  ['Custom without a version', { type: 'Custom', custom: { ciphers: [] } }, 'custom.minTLSVersion is ""'],
  ['Custom with SSL', { type: 'Custom', custom: { minTLSVersion: 'SSLv3' } }, 'custom.minTLSVersion is "SSLv3"'],
  ['Custom with TLS 1.4', { type: 'Custom', custom: { minTLSVersion: 'VersionTLS14' } }, '"VersionTLS14"'],
  ['an unknown type', { type: 'Quantum' }, 'type is "Quantum"'],
  ['a type in small letters', { type: 'modern' }, 'type is "modern"'],
];
for (const [name, tlsSecurityProfile, part] of invalid)
  test(`refuses ${name}`, () => {
    const error = failure(tlsSecurityProfile);
    expect(error?.code).toBe('TLS_PROFILE_INVALID');
    expect(error?.message).toContain('APIServer cluster: spec.tlsSecurityProfile: ');
    expect(error?.message).toContain(part);
    expect(error?.remedy).not.toBe('');
  });

const wrongTypes: [name: string, profile: unknown][] = [
  ['a text', 'Modern'],
  ['a list', ['Modern']],
  ['a number as type', { type: 3 }],
  ['a text as custom', { type: 'Custom', custom: 'VersionTLS12' }],
  ['a text as ciphers', { type: 'Custom', custom: { minTLSVersion: 'VersionTLS12', ciphers: 'A' } }],
  ['numbers as ciphers', { type: 'Custom', custom: { minTLSVersion: 'VersionTLS12', ciphers: [1] } }],
];
for (const [name, tlsSecurityProfile] of wrongTypes)
  test(`names the field of a profile with ${name}`, () => {
    const error = failure(tlsSecurityProfile);
    expect(error?.code).toBe('FIELD_INVALID');
    expect(error?.message).toContain('APIServer cluster: spec.tlsSecurityProfile');
  });

test('refuses a profile named like a member of every object', () => {
  for (const type of ['constructor', '__proto__', 'toString'])
    expect(failure({ type })?.code).toBe('TLS_PROFILE_INVALID');
});

const adherences: [adherence: string, honored: boolean][] = [
  ['', false],
  ['LegacyAdheringComponentsOnly', false],
  ['StrictAllComponents', true],
  ['SomethingNew', true],
  ['legacyadheringcomponentsonly', true],
];
for (const [adherence, honored] of adherences)
  test(`${honored ? 'honours' : 'ignores'} the profile under the policy ${JSON.stringify(adherence)}`, () => {
    expect(honorsTlsProfile(adherence)).toBe(honored);
    const got = read({ tlsAdherence: adherence, tlsSecurityProfile: { type: 'Modern' } });
    expect(got.adherence).toBe(adherence);
    const { ciphers, minTlsVersion } = got;
    expect(tlsInForce(got)).toEqual(honored ? { ciphers, minTlsVersion } : undefined);
  });

test('has no policy when none is written', () => {
  expect([read({}).adherence, read({ tlsAdherence: null }).adherence]).toEqual(['', '']);
});

test('a change of a profile that is not honored changes nothing in force', () => {
  const before = tlsInForce(read({ tlsSecurityProfile: { type: 'Old' } }));
  const after = tlsInForce(
    read({ tlsSecurityProfile: { type: 'Modern' }, tlsAdherence: 'LegacyAdheringComponentsOnly' }),
  );
  expect(after).toEqual(before);
  expect(tlsInForce(read({ tlsAdherence: 'StrictAllComponents' }))).not.toEqual(before);
});

test('throws only AppErrors for any profile', () => {
  const type = fc.oneof(fc.constantFrom('Old', 'Modern', 'Custom'), fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ type, custom: fc.jsonValue() })),
      fc.jsonValue(),
      (some, other) => {
        attempt(() => read({ tlsSecurityProfile: some, tlsAdherence: other }));
      },
    ),
    { numRuns: 2000 },
  );
});
