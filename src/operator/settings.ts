import { parseCommandLine } from '#base/command-line.ts';
import { AppError, shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { Environment } from '#cluster/proxy.ts';
import { extraArguments, readSettings } from '#cluster/settings.ts';
import type { LeaseOptions } from '#kube/leader/lease.ts';
import { readLogRotation } from '#node/desired/log-rotation.ts';
import { type FlagValues, operatorLine } from './flags.ts';

/** Settings from command line and environment, read once at start. */
export interface RunSettings extends OperatorSettings {
  maxParallelJoins: number;
  maxParallelUploads: number;
  /** Lifetime of tokens that are written on hosts. */
  tokenSeconds: number;
  /** Whether hosts get tokens that never expire if the cluster issues no others. */
  allowLastingTokens: boolean;
  /** Go duration of the agents' client certificates. */
  certificateLifetime: string;
  /** Whether former private keys are stored in a Secret. */
  keepsPrivateKeys: boolean;
  /** Whether the operator adds its new public key to hosts. */
  authorizesKeys: boolean;
  /** Of the payload; it decides which API servers are supported. */
  kubeletVersion: string;
  /** Undefined to disable. */
  metricsAddress: ListenAddress | undefined;
  healthAddress: ListenAddress | undefined;
  /** Pod of this process; empty outside a cluster. */
  podName: string;
  /** OperatorCondition that OLM reads; empty without OLM. */
  conditionName: string;
  /** Timing of leader election; defaults to that of Kubernetes. */
  lease?: LeaseTimes;
}

export type LeaseTimes = Required<Pick<LeaseOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>>;

export interface ListenAddress {
  /** Empty for all addresses of the machine. */
  host: string;
  port: number;
}

/** Settings of an operator without flags, and without its HTTP servers. */
export function defaultSettings(given: Pick<OperatorSettings, 'namespace' | 'version'>): RunSettings {
  const { values } = parseCommandLine(operatorLine, []) ?? {};
  if (values === undefined) throw new Error('no flags, no settings');
  const settings = settingsFrom(values, { WATCH_NAMESPACE: given.namespace }, given.version);
  return { ...settings, metricsAddress: undefined, healthAddress: undefined };
}

export interface StartOptions {
  settings: RunSettings;
  /** File; undefined for the service account of the pod. */
  kubeconfig: string | undefined;
  payloadDir: string;
  payloadCacheDir: string;
  /** File; undefined for the key of the release. */
  payloadKey: string | undefined;
}

/** Reads command line and environment; undefined for `--help`. */
export function readOptions(
  words: readonly string[],
  environment: Environment,
  version: string,
): StartOptions | undefined {
  const { values } = parseCommandLine(operatorLine, [...words, ...extraArguments(environment)]) ?? {};
  if (values === undefined) return undefined;
  return {
    settings: settingsFrom(values, environment, version),
    kubeconfig: values.kubeconfig || undefined,
    payloadDir: values['payload-dir'],
    payloadCacheDir: values['payload-cache-dir'],
    payloadKey: values['payload-key'] || undefined,
  };
}

function settingsFrom(values: FlagValues, environment: Environment, version: string): RunSettings {
  const given = { version, debug: values.debugLogging === 'true', logRotation: readLogRotation(environment) };
  const namespace = values.namespace || environment['WATCH_NAMESPACE'];
  return {
    ...readSettings({ ...environment, WATCH_NAMESPACE: namespace }, given),
    maxParallelJoins: numberFrom(values, 'max-parallel-joins'),
    maxParallelUploads: numberFrom(values, 'max-parallel-uploads'),
    tokenSeconds: secondsFrom(values, 'token-lifetime'),
    allowLastingTokens: values['allow-lasting-tokens'] === 'true',
    certificateLifetime: lifetimeFrom(values),
    keepsPrivateKeys: values['forget-private-keys'] !== 'true',
    authorizesKeys: values['authorize-keys'] === 'true',
    kubeletVersion: values['kubelet-version'],
    metricsAddress: addressFrom(values, 'metrics-bind-address'),
    healthAddress: addressFrom(values, 'health-probe-bind-address'),
    podName: environment['POD_NAME'] ?? '',
    conditionName: environment['OPERATOR_CONDITION_NAME'] ?? '',
  };
}

const highest = 1000;

function numberFrom(values: FlagValues, name: 'max-parallel-joins' | 'max-parallel-uploads'): number {
  const number = /^\d{1,4}$/.test(values[name]) ? Number(values[name]) : 0;
  if (number >= 1 && number <= highest) return number;
  throw new AppError('SETTING_INVALID', `--${name} is ${shown(values[name])}, not an integer from 1 to ${highest}`, {
    remedy: `Set --${name} to an integer from 1 to ${highest}, or omit it.`,
  });
}

/** API servers issue no token or certificate for less than ten minutes. */
const [shortestSeconds, longestSeconds] = [600, 365 * 86_400];

function secondsFrom(values: FlagValues, name: 'token-lifetime' | 'agent-certificate-lifetime'): number {
  const text = values[name];
  const seconds = Math.floor((parseGoDuration(text) ?? 0) / 1000);
  if (seconds >= shortestSeconds && seconds <= longestSeconds && /^[\w.]+$/.test(text)) return seconds;
  throw new AppError('SETTING_INVALID', `--${name} is ${shown(text)}, not a duration from 10m to 8760h`, {
    remedy: `Set --${name} to a duration such as 24h or 72h, or omit it.`,
  });
}

function lifetimeFrom(values: FlagValues): string {
  secondsFrom(values, 'agent-certificate-lifetime');
  return values['agent-certificate-lifetime'];
}

function addressFrom(
  values: FlagValues,
  name: 'metrics-bind-address' | 'health-probe-bind-address',
): ListenAddress | undefined {
  const text = values[name];
  if (text === '0' || text === '') return undefined;
  const [, bracketed, plain = '', port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port !== '' && Number(port) < 65_536) return { host: bracketed ?? plain, port: Number(port) };
  throw new AppError('SETTING_INVALID', `--${name} is ${shown(text)}, not an address with a port`, {
    remedy: `Set --${name} to a value such as 0.0.0.0:9182, :9182 or [::]:9182, or to 0 to disable it.`,
  });
}

/** Reachable only from the same machine. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
