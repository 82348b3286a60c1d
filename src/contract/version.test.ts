import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  payloadKubeletVersion,
  servicesConfigMapName,
  versionLine,
  versionOfServicesConfigMap,
  versionString,
} from './version.ts';

const commit = '1b759bf1c0ffee1b759bf1c0ffee1b759bf1c0ff';

const versions: [string, string, string, boolean, string][] = [
  ['a clean tree', '11.0.0', commit, false, '11.0.0-1b759bf'],
  ['a tree with changes', '11.0.0', commit, true, '11.0.0-1b759bf-dirty'],
  ['a commit already short', '11.0.0', '1b759bf', false, '11.0.0-1b759bf'],
];
for (const [name, semver, hash, dirty, want] of versions) {
  test(`version of ${name}`, () => expect(versionString(semver, hash, dirty)).toBe(want));
}

test('the version names the services ConfigMap', () => {
  expect(servicesConfigMapName('11.0.0-1b759bf')).toBe('windows-services-11.0.0-1b759bf');
});

const configMaps: [string, string | undefined][] = [
  ['windows-services-11.0.0-1b759bf', '11.0.0-1b759bf'],
  ['windows-services-11.0.0-1b759bf-dirty', '11.0.0-1b759bf-dirty'],
  ['windows-services-', undefined],
  ['windows-services', undefined],
  ['windows-instances', undefined],
  ['my-windows-services-11.0.0', undefined],
  ['Windows-Services-11.0.0', undefined],
  ['', undefined],
];
for (const [name, want] of configMaps) {
  test(`${JSON.stringify(name)} is for version ${want}`, () => expect(versionOfServicesConfigMap(name)).toBe(want));
}

test('every version is found again in the name of its ConfigMap', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      version => versionOfServicesConfigMap(servicesConfigMapName(version)) === version,
    ),
  );
});

test('scripts find the version in the line of the version command', () => {
  const line = versionLine('windows-machine-config-operator', '11.0.0-1b759bf', 'v26.10.0');
  expect(line).toBe('windows-machine-config-operator version: "11.0.0-1b759bf", node version: "v26.10.0"');
  expect(/ version: "([^"]*)"/.exec(line)?.[1]).toBe('11.0.0-1b759bf');
});

test('the kubelet of the payload has a version as the API server prints it', () => {
  expect(payloadKubeletVersion).toMatch(/^v1\.\d+\.\d+$/);
});
