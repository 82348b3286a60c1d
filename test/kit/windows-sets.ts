import { readObject } from '../../src/contract/object.ts';
import { type WindowsVersion, windowsVersions } from '../../src/contract/supported-versions.ts';
import { type WindowsSet, type WindowsSetWishes, windowsSet } from '../../src/install/machine-set/windows-set.ts';
import { infrastructureOf, linuxSet, linuxSpecs } from './machine-sets.ts';

export type PlatformType = keyof typeof linuxSpecs;

export const releaseOf = (year: string) => windowsVersions.find(({ release }) => release === year) as WindowsVersion;

export const noWishes: WindowsSetWishes = {
  name: undefined,
  from: undefined,
  zone: undefined,
  image: undefined,
  instanceType: undefined,
  vcpu: undefined,
  memoryMb: undefined,
  version: releaseOf('2022'),
  isVersionGiven: false,
  replicas: 1,
};

export const knownSize = {
  'machine.openshift.io/vCPU': '4',
  'machine.openshift.io/memoryMb': '16384',
  'machine.openshift.io/GPU': '0',
  'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=amd64',
};

const images: Record<PlatformType, string | undefined> = {
  AWS: 'ami-0123456789abcdef0',
  Azure: undefined,
  GCP: undefined,
  VSphere: 'templates/windows-2022',
  Nutanix: 'windows-2022.qcow2',
};

export function make(
  type: PlatformType,
  wishes: Partial<WindowsSetWishes> = {},
  sets: readonly object[] = [linuxSet(linuxSpecs[type], { annotations: knownSize })],
): WindowsSet {
  const objects = sets.map(set => readObject(set));
  return windowsSet(readObject(infrastructureOf(type)), objects, { ...noWishes, image: images[type], ...wishes });
}

export function specIn({ object }: WindowsSet): Record<string, unknown> {
  const { template } = object.spec as {
    template: { spec: { providerSpec: { value: Record<string, unknown> } } };
  };
  return template.spec.providerSpec.value;
}
