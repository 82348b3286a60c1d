import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { checkServerVersion, minorsAhead, newestVersion, supportedServers } from './server-version.ts';

const kubelet = 'v1.36.2';

const failure = (gitVersion: string, kubeletVersion = kubelet) =>
  errorOf(() => checkServerVersion(gitVersion, kubeletVersion));

const supported = [
  'v1.36.0',
  'v1.36.4',
  'v1.36',
  'v1.37.0',
  'v1.38.2',
  'v1.39.11',
  'v1.36.0-rc.1',
  'v1.36.0-alpha.0.12+a80dac2',
  'v1.36.2+a80dac2',
  'v1.37.1-gke.100',
  'v1.38.3-eks-113cf36',
  'v1.36.2+k3s1',
];
for (const version of supported)
  test(`accepts an API server of ${version}`, () => expect(() => checkServerVersion(version, kubelet)).not.toThrow());

const unsupported = ['v1.35.9', 'v1.17.1', 'v1.3.6', 'v1.40.0', 'v1.40.0-alpha.1', 'v1.360.0', 'v0.36.0', 'v2.36.0'];
for (const version of unsupported)
  test(`refuses an API server of ${version}`, () => {
    const error = failure(version);
    expect(error?.code).toBe('SERVER_VERSION_UNSUPPORTED');
    expect(error?.message).toBe(`unsupported server version: ${version}. Supported versions are v1.36.x to v1.39.x`);
    expect(error?.remedy).toContain(version);
  });

const garbage = [
  '',
  'v',
  'garbage',
  '1.36.2',
  'V1.36.2',
  'v1',
  'v1.',
  'v1.x.2',
  'v1.36.',
  'v1.36.2.1',
  'v1.036.2',
  'v01.36.2',
  'v1.36.2 ',
  ' v1.36.2',
  'v1.36.2-',
  'v1.36.2\nv1.36.2',
  'v-1.36.2',
  'v1.-36.2',
  'v1e0.36.2',
  'v1.999999999999.0',
];
for (const version of garbage)
  test(`refuses ${JSON.stringify(version)} as the version of an API server`, () => {
    const error = failure(version);
    expect(error?.code).toBe('SERVER_VERSION_UNSUPPORTED');
    expect(error?.message).toContain(`unsupported server version: ${JSON.stringify(version)}`);
    expect(error?.remedy).toContain('gitVersion');
  });

test('reports it is the kubelet version that cannot be read', () => {
  expect(failure('v1.36.2', 'unknown')?.message).toContain('unsupported kubelet version: "unknown"');
});

const neighbours: [kubelet: string, server: string, ok: boolean][] = [
  ['v1.9.0', 'v1.10.0', true],
  ['v1.9.0', 'v1.12.0', true],
  ['v1.9.0', 'v1.13.0', false],
  ['v1.9.0', 'v1.8.0', false],
  ['v1.99.0', 'v1.100.0', true],
  ['v1.99.0', 'v1.102.0', true],
  ['v1.99.0', 'v1.103.0', false],
  ['v1.100.0', 'v1.99.0', false],
  ['v1.36.2+vendor', 'v1.39.0', true],
  ['v2.0.0', 'v1.36.0', false],
];
for (const [kubeletVersion, server, ok] of neighbours)
  test(`counts minors as whole numbers: kubelet ${kubeletVersion}, API server ${server}`, () =>
    expect(attempt(() => checkServerVersion(server, kubeletVersion)).ok).toBe(ok));

test('the API server may be up to three minors newer than the kubelet, never older', () => {
  const minor = fc.integer({ min: 0, max: 200 });
  fc.assert(
    fc.property(minor, minor, fc.nat(99), (ours, theirs, patch) => {
      const { ok } = attempt(() => checkServerVersion(`v1.${theirs}.${patch}`, `v1.${ours}.0`));
      expect(ok).toBe(theirs - ours >= 0 && theirs - ours <= 3);
    }),
    { numRuns: 1000 },
  );
});

test('throws only AppErrors for any text', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^v?\d*\.?\d*\.?\d*[-+.a-z0-9]*$/));
  fc.assert(
    fc.property(texts, texts, (server, kubeletVersion) => {
      attempt(() => checkServerVersion(server, kubeletVersion));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['v1.38.1', 'v1.36.2', 2],
  ['v1.36', 'v1.36.2+vendor', 0],
  ['v1.9.0', 'v1.36.2', -27],
  ['v2.0.0', 'v1.36.2', Infinity],
  ['v1.36.2', 'v2.0.0', -Infinity],
])('an API server %s is ahead of a kubelet %s by %d minors', (server, kubelet, want) => {
  expect(minorsAhead(server, kubelet)).toBe(want);
});

test('names the oldest and the newest API server of a kubelet', () => {
  expect(supportedServers('v1.36.2')).toEqual(['v1.36', 'v1.39']);
  expect(errorOf(() => supportedServers('latest'))?.code).toBe('SERVER_VERSION_UNSUPPORTED');
});

const newest: [name: string, versions: string[], want: string | undefined][] = [
  ['of one', ['v1.36.2'], 'v1.36.2'],
  ['by number, not by text', ['v1.9.8', 'v1.36.2', 'v1.100.0'], 'v1.100.0'],
  ['by major first', ['v1.36.2', 'v2.0.0', 'v1.99.0'], 'v2.0.0'],
  ['past what is no version', ['', 'unknown', 'v1.36.2'], 'v1.36.2'],
  ['as the first of equal minors', ['v1.36.2+a', 'v1.36.9'], 'v1.36.2+a'],
  ['of none', [], undefined],
  ['of nothing but garbage', ['', 'unknown'], undefined],
];
for (const [name, versions, want] of newest)
  test(`finds the newest version ${name}`, () => expect(newestVersion(versions)).toBe(want));
