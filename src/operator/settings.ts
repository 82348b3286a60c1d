import { parseCommandLine } from '#base/command-line.ts';
import { AppError, shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { Environment } from '#cluster/proxy.ts';
import { extraArguments, readSettings } from '#cluster/settings.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { LeaseOptions } from '#kube/leader/lease.ts';
import { readLogRotation } from '#node/desired/log-rotation.ts';
import { type FlagValues, operatorLine } from './flags.ts';

/** What the operator is told beside what the cluster says; all of it is read once. */
export interface RunSettings extends OperatorSettings {
  maxParallelJoins: number;
  maxParallelUploads: number;
  /** Of tokens that are written on hosts. */
  tokenSeconds: number;
  /** Whether hosts get tokens that never expire where the cluster issues no others. */
  allowLastingTokens: boolean;
  /** Go duration of the agents' client certificates. */
  certificateLifetime: string;
  /** Of the payload; it decides which API servers will do. */
  kubeletVersion: string;
  /** Undefined for nowhere. */
  metricsAddress: ListenAddress | undefined;
  healthAddress: ListenAddress | undefined;
  /** The pod we are; empty outside a cluster. */
  podName: string;
  /** How long leadership lasts without a word of the leader; as Kubernetes does it when absent. */
  lease?: LeaseTimes;
}

export type LeaseTimes = Required<Pick<LeaseOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>>;

export interface ListenAddress {
  /** Empty for all addresses of the machine. */
  host: string;
  port: number;
}

/** Settings of an operator that nobody has told anything but where it is and what it is. */
export function defaultSettings(given: Pick<OperatorSettings, 'namespace' | 'version'>): RunSettings {
  return {
    debug: false,
    logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
    proxy: {},
    maxParallelJoins: 20,
    maxParallelUploads: 5,
    tokenSeconds: 3600,
    allowLastingTokens: false,
    certificateLifetime: defaultCertificateLifetime,
    kubeletVersion: payloadKubeletVersion,
    metricsAddress: undefined,
    healthAddress: undefined,
    podName: '',
    ...given,
  };
}

export interface StartOptions {
  settings: RunSettings;
  /** File; undefined for the service account of the pod. */
  kubeconfig: string | undefined;
  payloadDir: string;
  payloadCacheDir: string;
}

/** Reads command line and environment; undefined when help is wanted. */
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
  };
}

function settingsFrom(values: FlagValues, environment: Environment, version: string): RunSettings {
  const given = { version, debug: values.debugLogging === 'true', logRotation: readLogRotation(environment) };
  const namespace = values.namespace || environment['WATCH_NAMESPACE'];
  return {
    ...readSettings({ ...environment, WATCH_NAMESPACE: namespace }, given),
    maxParallelJoins: numberFrom(values, 'max-parallel-joins'),
    maxParallelUploads: numberFrom(values, 'max-parallel-uploads'),
    tokenSeconds: tokenSecondsFrom(values['token-lifetime']),
    allowLastingTokens: values['allow-lasting-tokens'] === 'true',
    certificateLifetime: lifetimeFrom(values['agent-certificate-lifetime']),
    kubeletVersion: values['kubelet-version'],
    metricsAddress: addressFrom(values, 'metrics-bind-address'),
    healthAddress: addressFrom(values, 'health-probe-bind-address'),
    podName: environment['POD_NAME'] ?? '',
  };
}

const highest = 1000;

function numberFrom(values: FlagValues, name: 'max-parallel-joins' | 'max-parallel-uploads'): number {
  const number = /^\d{1,4}$/.test(values[name]) ? Number(values[name]) : 0;
  if (number >= 1 && number <= highest) return number;
  throw new AppError('SETTING_INVALID', `--${name} is ${shown(values[name])}, not a number from 1 to ${highest}`, {
    remedy: `Give --${name} a whole number from 1 to ${highest}, or leave it out.`,
  });
}

/** API servers give no token for less than ten minutes. */
const [shortestSeconds, longestSeconds] = [600, 365 * 86_400];

function tokenSecondsFrom(text: string): number {
  const seconds = Math.floor((parseGoDuration(text) ?? 0) / 1000);
  if (seconds >= shortestSeconds && seconds <= longestSeconds) return seconds;
  throw new AppError('SETTING_INVALID', `--token-lifetime is ${shown(text)}, not a duration from 10m to 8760h`, {
    remedy: 'Give --token-lifetime a duration such as 1h or 72h, or leave it out.',
  });
}

/** API servers take no request for less than ten minutes; signers may issue less than is requested. */
function lifetimeFrom(text: string): string {
  const seconds = Math.floor((parseGoDuration(text) ?? 0) / 1000);
  if (seconds >= shortestSeconds && seconds <= longestSeconds && /^[\w.]+$/.test(text)) return text;
  throw new AppError(
    'SETTING_INVALID',
    `--agent-certificate-lifetime is ${shown(text)}, not a duration from 10m to 8760h`,
    { remedy: 'Give --agent-certificate-lifetime a duration such as 24h or 72h, or leave it out.' },
  );
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
    remedy: `Give --${name} a value such as 0.0.0.0:9182, :9182 or [::]:9182, or 0 for nowhere.`,
  });
}

/** Whom only programs of the same machine can reach. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
