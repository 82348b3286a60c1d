import { expect, test } from 'vitest';
import { payloadKubeletVersion } from '#contract/version.ts';
import { acceptsCloudConfig, kubeletFeatureGates, kubeProxyFeatureGates } from './kubelet-versions.ts';

const [queryLogs, rotate] = ['NodeLogQuery', 'RotateKubeletServerCertificate'];
const windowsGates = ['WinDSR', 'WinOverlay'];

const versions: [string | undefined, boolean, string[], string[]][] = [
  [undefined, true, [queryLogs, rotate], windowsGates],
  ['', true, [queryLogs, rotate], windowsGates],
  ['none', true, [queryLogs, rotate], windowsGates],
  ['v1.20.2', true, [queryLogs, rotate], windowsGates],
  ['v1.33.12', true, [queryLogs, rotate], windowsGates],
  ['v1.34.0', false, [queryLogs, rotate], []],
  ['v1.34.0-rc.1+abc', false, [queryLogs, rotate], []],
  ['v1.35.4', false, [queryLogs, rotate], []],
  ['v1.36.0', false, [rotate], []],
  [payloadKubeletVersion, false, [rotate], []],
  ['v1.40.0', false, [rotate], []],
];
for (const [version, cloudConfig, kubelet, kubeProxy] of versions) {
  test(`knows the flags and feature gates of ${version === undefined ? 'an unknown version' : JSON.stringify(version)}`, () => {
    expect(acceptsCloudConfig(version)).toBe(cloudConfig);
    expect(kubeletFeatureGates(version)).toEqual(Object.fromEntries(kubelet.map(name => [name, true])));
    expect(kubeProxyFeatureGates(version)).toEqual(kubeProxy);
  });
}
