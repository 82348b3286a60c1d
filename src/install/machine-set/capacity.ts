import { nodeLabel, windowsTaint } from '#contract/names.ts';
import { buildText, windowsBuildLabel, type WindowsVersion } from '#contract/supported-versions.ts';
import type { MachinePlatform, MachineWishes, ProviderSpec } from './machine-platform.ts';
import type { SourceSet } from './source-set.ts';

/** What the autoscaler reads to add the first Machine of a set that has none. */
const annotation = {
  vcpu: 'machine.openshift.io/vCPU',
  memoryMb: 'machine.openshift.io/memoryMb',
  gpu: 'machine.openshift.io/GPU',
  labels: 'capacity.cluster-autoscaler.kubernetes.io/labels',
  taints: 'capacity.cluster-autoscaler.kubernetes.io/taints',
} as const;

export interface CapacityFacts {
  source: SourceSet;
  platform: MachinePlatform;
  wishes: MachineWishes;
  /** The new providerSpec. */
  value: ProviderSpec;
  /** Undefined when the image is the user's own, and its version not given. */
  version: WindowsVersion | undefined;
}

export interface Capacity {
  annotations: Record<string, string>;
  notes: readonly string[];
}

/**
 * Size, labels and taints that a Node of the set will have. Without them the autoscaler takes an empty set for one of
 * Linux nodes without taints, and never scales it for Windows pods.
 */
export function capacityOf(facts: CapacityFacts): Capacity {
  const build = facts.version === undefined ? [] : [`${windowsBuildLabel}=${buildText(facts.version)}`];
  const labels = ['kubernetes.io/arch=amd64', `${nodeLabel.os}=windows`, ...build];
  const { key, value, effect } = windowsTaint;
  const size = sizeAnnotations(facts);
  return {
    annotations: {
      ...size,
      [annotation.labels]: labels.join(','),
      [annotation.taints]: `${key}=${value}:${effect}`,
    },
    notes: size === undefined ? [unknownSize] : [],
  };
}

const unknownSize =
  'CPUs and memory of the Machines are not known, so their annotations are left out; the Machine API adds them for types that it knows. If it does not, pass --vcpu and --memory-mb to scale from zero.';

function sizeAnnotations({ source, platform, wishes, value }: CapacityFacts): Record<string, string> | undefined {
  const known = source.set.meta.annotations;
  const { vcpu, memoryMb } = wishes;
  if (vcpu !== undefined && memoryMb !== undefined) return annotationsOf({ vcpu, memoryMb });
  if (platform.instanceType === undefined) {
    const size = platform.size?.(value);
    return size === undefined ? undefined : annotationsOf(size);
  }
  const type = platform.instanceType(source.fields);
  const isSame = wishes.instanceType === undefined || wishes.instanceType === type;
  const names = [annotation.vcpu, annotation.memoryMb];
  if (!isSame || names.some(name => !/^\d{1,9}$/.test(known[name] ?? ''))) return undefined;
  const copied = [...names, annotation.gpu].filter(name => /^\d{1,9}$/.test(known[name] ?? ''));
  return Object.fromEntries(copied.map(name => [name, known[name] ?? '']));
}

function annotationsOf({ vcpu, memoryMb }: { vcpu: number; memoryMb: number }): Record<string, string> {
  return { [annotation.vcpu]: String(vcpu), [annotation.memoryMb]: String(memoryMb) };
}

/** A set of Linux workers may be for another processor, on which there is no Windows Server. */
export function isArm({ set }: SourceSet): boolean {
  return (set.meta.annotations[annotation.labels] ?? '').split(',').includes('kubernetes.io/arch=arm64');
}
