import { parseGoDuration } from '#base/go-duration.ts';
import { parseQuantity } from '#base/quantity.ts';
import { isRecord } from '#base/fields.ts';
import { byteOrder } from '#base/compare.ts';

export type SettingValue = number | boolean | string | Readonly<Record<string, string>>;

/** A field of the KubeletConfiguration that users may set on Windows nodes. */
export interface KubeletField {
  name: string;
  /** What is allowed, as it follows "not". */
  allowed: string;
  /** Undefined when the value is not allowed. */
  parse: (value: unknown) => SettingValue | undefined;
}

/** Windows has no limit for process ids. */
const resources = ['cpu', 'memory', 'ephemeral-storage'];
/** Those that the kubelet measures on Windows. */
const signals = ['memory.available', 'nodefs.available', 'imagefs.available'];

/** In the order of the documentation. */
export const kubeletFields: readonly KubeletField[] = [
  integer('maxPods', 1, 500),
  reserved('systemReserved'),
  reserved('kubeReserved'),
  thresholds('evictionHard'),
  thresholds('evictionSoft'),
  gracePeriods('evictionSoftGracePeriod'),
  integer('imageGCHighThresholdPercent', 1, 100),
  integer('imageGCLowThresholdPercent', 0, 99),
  duration('imageMinimumGCAge'),
  duration('imageMaximumGCAge'),
  { name: 'containerLogMaxSize', allowed: 'a size of at least 1Mi, such as 50Mi', parse: parseLogSize },
  integer('containerLogMaxFiles', 2, 100),
  { name: 'serializeImagePulls', allowed: 'true or false', parse: value => (isBoolean(value) ? value : undefined) },
  integer('maxParallelImagePulls', 1, 100),
  integer('registryPullQPS', 0, 1000),
  integer('registryBurst', 1, 1000),
  integer('eventRecordQPS', 0, 1000),
  integer('eventBurst', 1, 1000),
  integer('kubeAPIQPS', 1, 1000),
  integer('kubeAPIBurst', 1, 2000),
];

const linuxOnly = 'it has no effect on Windows';
const operatorSets = 'the operator sets it';

/** Known fields that are not allowed, and why. */
export const refusedFields: Readonly<Record<string, string>> = {
  podPidsLimit: linuxOnly,
  cgroupDriver: linuxOnly,
  cgroupsPerQOS: linuxOnly,
  reservedSystemCPUs: linuxOnly,
  systemReservedCgroup: linuxOnly,
  kubeReservedCgroup: linuxOnly,
  enforceNodeAllocatable: linuxOnly,
  resolvConf: linuxOnly,
  cpuManagerPolicy: 'it can change only while the state of the kubelet is deleted by hand',
  memoryManagerPolicy: 'it can change only while the state of the kubelet is deleted by hand',
  topologyManagerPolicy: 'it can change only while the state of the kubelet is deleted by hand',
  authentication: operatorSets,
  authorization: operatorSets,
  clusterDNS: operatorSets,
  clusterDomain: operatorSets,
  containerRuntimeEndpoint: operatorSets,
  featureGates: operatorSets,
  registerWithTaints: operatorSets,
  rotateCertificates: operatorSets,
  serverTLSBootstrap: operatorSets,
  nodeStatusUpdateFrequency: 'the control plane and the operator take a Node with rarer updates for dead',
  shutdownGracePeriod: 'the operator drains a node before it restarts the host',
  shutdownGracePeriodCriticalPods: 'the operator drains a node before it restarts the host',
};

function integer(name: string, min: number, max: number): KubeletField {
  const isAllowed = (value: unknown) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  const parse = (value: unknown) => (isAllowed(value) ? Number(value) : undefined);
  return { name, allowed: `an integer from ${min} to ${max}`, parse };
}

function duration(name: string): KubeletField {
  const allowed = 'a duration of zero or more, such as 2m or 168h';
  return { name, allowed, parse: value => (durationMs(value) === undefined ? undefined : String(value)) };
}

export function durationMs(value: unknown): number | undefined {
  return typeof value === 'string' && !value.startsWith('-') ? parseGoDuration(value) : undefined;
}

function parseLogSize(value: unknown): string | undefined {
  const quantity = typeof value === 'string' ? parseQuantity(value) : undefined;
  if (quantity === undefined || quantity.numerator < 1_048_576n * quantity.denominator) return undefined;
  return isBounded(quantity) ? String(value) : undefined;
}

function reserved(name: string): KubeletField {
  const allowed = `a map of ${resources.join(', ')} to quantities, such as cpu: 500m`;
  return { name, allowed, parse: value => parseMap(value, resources, parseAmount) };
}

/** A bare number is a quantity in YAML as well. */
function parseAmount(value: unknown): string | undefined {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  const quantity = typeof text === 'string' ? parseQuantity(text) : undefined;
  const isAmount = quantity !== undefined && quantity.numerator >= 0n && isBounded(quantity);
  return isAmount ? String(text) : undefined;
}

/** The kubelet stores quantities in 63 bits. */
function isBounded({ numerator, denominator }: { numerator: bigint; denominator: bigint }): boolean {
  return numerator < 2n ** 63n * denominator;
}

function thresholds(name: string): KubeletField {
  const allowed = `a map of ${signals.join(', ')} to quantities or percentages from 1% to 50%`;
  return { name, allowed, parse: value => parseMap(value, signals, parseThreshold) };
}

function parseThreshold(value: unknown): string | undefined {
  const percent = percentOf(value);
  if (percent !== undefined) return percent >= 1 && percent <= 50 ? String(value) : undefined;
  const text = parseAmount(value);
  return text === undefined || parseQuantity(text)?.numerator === 0n ? undefined : text;
}

export function percentOf(value: unknown): number | undefined {
  const [, digits] = typeof value === 'string' ? (/^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(value) ?? []) : [];
  return digits === undefined ? undefined : Number(digits);
}

function gracePeriods(name: string): KubeletField {
  const allowed = `a map of ${signals.join(', ')} to durations above zero, such as 1m30s`;
  const parse = (value: unknown) => ((durationMs(value) ?? 0) > 0 ? String(value) : undefined);
  return { name, allowed, parse: value => parseMap(value, signals, parse) };
}

/** Keys in byte order, so that the same settings are the same file. */
function parseMap(
  value: unknown,
  keys: readonly string[],
  parse: (value: unknown) => string | undefined,
): Record<string, string> | undefined {
  if (!isRecord(value) || Object.keys(value).length === 0) return undefined;
  const entries = Object.entries(value).map(([key, member]) => [key, keys.includes(key) ? parse(member) : undefined]);
  if (entries.some(([, text]) => text === undefined)) return undefined;
  return Object.fromEntries(entries.toSorted(([one = ''], [other = '']) => byteOrder(one, other))) as Record<
    string,
    string
  >;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}
