import { AppError, shown } from '#base/errors.ts';
import { type Fields, isRecord } from '#base/fields.ts';
import type { WindowsVersion } from '#contract/supported-versions.ts';

/** The value of `providerSpec` of a MachineSet: what the cloud is asked for. */
export type ProviderSpec = Record<string, unknown>;

/** What the user wants; everything else comes from the source set. */
export interface MachineWishes {
  image: string | undefined;
  instanceType: string | undefined;
  vcpu: number | undefined;
  memoryMb: number | undefined;
  version: WindowsVersion;
  /** The source set is one for Windows, so its image and its settings can stay. */
  isFromWindows: boolean;
}

export interface MachineSize {
  vcpu: number;
  memoryMb: number;
}

export interface WindowsSpec {
  value: ProviderSpec;
  /** What was left out or is up to the user. */
  notes: readonly string[];
}

/** What differs from platform to platform. */
export interface MachinePlatform {
  /** `true`: Windows gets the name of the Machine as computer name, which has 15 characters at most. */
  hasShortNames: boolean;
  zone: (spec: Fields) => string;
  /** Undefined where machines have no types but numbers of CPUs and bytes. */
  instanceType?: (spec: Fields) => string;
  /** Only where `instanceType` is missing. */
  size?: (spec: ProviderSpec) => MachineSize | undefined;
  /** The image is known from the version of Windows alone. */
  hasPublicImages: boolean;
  /** `fields` read the same object as `spec`. */
  windowsSpec: (spec: ProviderSpec, wishes: MachineWishes, fields: Fields) => WindowsSpec;
}

/** Smaller disks fill up with the images of Windows containers. */
export const minimumDiskGiB = 128;

/** Of the image to use; undefined when that of a Windows set stays. */
export function wantedImage(wishes: MachineWishes, example: string, advice = ''): string | undefined {
  if (wishes.image !== undefined || wishes.isFromWindows) return wishes.image;
  throw new AppError('MACHINE_SET_UNCLEAR', `a Linux MachineSet cannot tell ${example}`, {
    remedy: `Pass it with --image.${advice}`,
  });
}

export function wrongImage(image: string, expected: string): AppError {
  return new AppError('MACHINE_SET_REFUSED', `--image is ${shown(image)}, not ${expected}`, {
    remedy: `Pass ${expected}.`,
  });
}

export function atLeast(minimum: number, value: number | undefined): number {
  return Math.max(minimum, value ?? minimum);
}

export function without(value: ProviderSpec, ...names: readonly string[]): ProviderSpec {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** A copy of a member that is an object; empty if it is missing. */
export function recordIn(value: ProviderSpec, name: string): ProviderSpec {
  const member = value[name];
  return isRecord(member) ? { ...member } : {};
}

/** Copies of the objects in a list; `fields` have checked that it is one. */
export function recordsIn(value: ProviderSpec, name: string): ProviderSpec[] {
  const member = value[name];
  return Array.isArray(member) ? member.filter(isRecord).map(item => ({ ...item })) : [];
}
