import { AppError, attempt, shown } from '#base/errors.ts';
import { isRecord, jsonIn } from '#base/fields.ts';
import type { KubeObject } from '#contract/object.ts';
import type { KubeletArguments } from './facts.ts';
import { kubeletArguments } from './kubelet-unit.ts';

/** What selects the newest MachineConfig of the workers. */
export interface MachineConfigSummary {
  name: string;
  creationTimestamp: string;
  hasConfig: boolean;
}

export interface IgnitionFile {
  path: string;
  source: string | undefined;
  /** Empty for uncompressed content. */
  compression: string;
}

/** The parts used from the Ignition config of the Linux workers. */
export interface WorkerConfig {
  /** Names the object in messages. */
  label: string;
  kubeletUnit: string | undefined;
  files: IgnitionFile[];
  /** Lines of authorized_keys, of all users. */
  authorizedKeys: string[];
}

export const renderedPrefix = 'rendered-worker-';
export const kubeletUnitName = 'kubelet.service';

/** The newest config rendered for workers; of two created in the same second the first by name. */
export function latestRenderedWorker<T extends MachineConfigSummary>(machineConfigs: readonly T[]): T {
  const [latest] = machineConfigs
    .filter(config => config.name.startsWith(renderedPrefix) && config.hasConfig)
    .sort((one, other) => createdMs(other) - createdMs(one) || (one.name < other.name ? -1 : 1));
  if (latest !== undefined) return latest;
  throw new AppError('RENDERED_WORKER_MISSING', `rendered worker MachineConfig not found (${renderedPrefix}…)`, {
    remedy:
      'Wait for the machine config operator; check with `oc get machineconfigs.machineconfiguration.openshift.io -o yaml`.',
  });
}

export function summariseMachineConfig(object: KubeObject): MachineConfigSummary & { object: KubeObject } {
  const { name, creationTimestamp } = object.meta;
  const config = attempt(() => object.fields.object('spec').raw('config'));
  return { name, creationTimestamp, hasConfig: config.ok && (config.value ?? '') !== '', object };
}

/** Reads the Ignition config in a MachineConfig. It may hold secrets, so messages never show its content. */
export function readWorkerConfig(machineConfig: KubeObject): WorkerConfig {
  const { label } = machineConfig;
  const config = parseConfig(machineConfig.fields.object('spec').raw('config'), label);
  checkIgnitionVersion(config, label);
  const unit = entriesOf(config, 'systemd', 'units', label).find(entry => entry['name'] === kubeletUnitName);
  return {
    label,
    kubeletUnit: textOr(unit?.['contents'], undefined),
    files: entriesOf(config, 'storage', 'files', label).map(readFile),
    authorizedKeys: readAuthorizedKeys(config),
  };
}

/** Nodes do not depend on them, so malformed ones are no error. */
function readAuthorizedKeys({ passwd }: Record<string, unknown>): string[] {
  const users = isRecord(passwd) && Array.isArray(passwd['users']) ? passwd['users'].filter(isRecord) : [];
  const lines = users.flatMap(({ sshAuthorizedKeys }): unknown[] =>
    Array.isArray(sshAuthorizedKeys) ? sshAuthorizedKeys : [],
  );
  return lines.filter(line => typeof line === 'string').slice(0, maxAuthorizedKeys);
}

const maxAuthorizedKeys = 1000;

export function readKubeletArguments(config: WorkerConfig): KubeletArguments {
  const subject = `${config.label}: ${kubeletUnitName}`;
  if (config.kubeletUnit) return kubeletArguments(config.kubeletUnit, subject);
  throw new AppError('KUBELET_UNIT_MALFORMED', `${subject} is missing or empty`, {
    remedy: 'Windows nodes copy flags of the Linux kubelet: add a kubelet unit to the worker MachineConfig.',
  });
}

export function malformedIgnition(label: string, what: string): AppError {
  return new AppError('IGNITION_MALFORMED', `${label}: ${what}`, {
    remedy:
      'Check the MachineConfigPool worker (`oc describe machineconfigpool worker`) and fix the MachineConfig it names.',
  });
}

function createdMs(config: MachineConfigSummary): number {
  return Date.parse(config.creationTimestamp) || 0;
}

function parseConfig(config: unknown, label: string): Record<string, unknown> {
  const value = typeof config === 'string' ? jsonIn(config) : config;
  if (isRecord(value)) return value;
  throw malformedIgnition(label, 'spec.config is not an ignition config in JSON');
}

function checkIgnitionVersion(config: Record<string, unknown>, label: string): void {
  const version = isRecord(config['ignition']) ? config['ignition']['version'] : undefined;
  if (typeof version === 'string' && /^3\.[0-5]\.\d+$/.test(version)) return;
  throw malformedIgnition(label, `ignition version is ${shown(version)}; versions 3.0 to 3.5 are supported`);
}

/** Entries of a list two levels down, without those that are not objects. */
function entriesOf(
  config: Record<string, unknown>,
  section: string,
  name: string,
  label: string,
): Record<string, unknown>[] {
  const parent = config[section] ?? {};
  const list = isRecord(parent) ? (parent[name] ?? []) : undefined;
  if (Array.isArray(list)) return list.filter(isRecord);
  throw malformedIgnition(label, `spec.config.${section}.${name} is not a list`);
}

function readFile(entry: Record<string, unknown>): IgnitionFile {
  const contents = isRecord(entry['contents']) ? entry['contents'] : {};
  return {
    path: textOr(entry['path'], ''),
    source: textOr(contents['source'], undefined),
    compression: textOr(contents['compression'] ?? '', 'unknown'),
  };
}

function textOr<T>(value: unknown, fallback: T): string | T {
  return typeof value === 'string' ? value : fallback;
}
