import { expect, test } from 'vitest';
import {
  buildText,
  operatorReleases,
  windowsReleases,
  windowsVersionOf,
  windowsVersionsOn,
} from './supported-versions.ts';
import { payloadKubeletVersion } from './version.ts';

const releases: [build: string, release: string | undefined][] = [
  ['10.0.17763', '2019'],
  ['10.0.20348.2700', '2022'],
  ['10.0.26100.1', '2025'],
  ['10.0.203480.1', undefined],
  ['10.0.25398.1', undefined],
  ['20348', undefined],
  ['', undefined],
];
for (const [build, release] of releases) {
  test(`${JSON.stringify(build)} is Windows Server ${release}`, () =>
    expect(windowsVersionOf(build)?.release).toBe(release));
}

test('the text of a build names its release', () => {
  const texts = windowsReleases.map(release => windowsVersionsOn('AWS').find(each => each.release === release));
  expect(texts.map(version => version && windowsVersionOf(buildText(version))?.release)).toEqual(windowsReleases);
});

test('vSphere has no release without another VXLAN port', () => {
  expect(windowsVersionsOn('VSphere').map(({ release }) => release)).toEqual(['2022', '2025']);
  expect(windowsVersionsOn('AWS').map(({ release }) => release)).toEqual(['2019', '2022', '2025']);
});

test('the newest release of the operator has the kubelet of the payload', () => {
  expect(operatorReleases[0].kubelet).toBe(payloadKubeletVersion);
  expect(payloadKubeletVersion).toContain(`v${operatorReleases[0].kubernetes}.`);
});
