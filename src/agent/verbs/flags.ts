import type { Flag, Flags } from '#base/command-line.ts';
import { isNodeName } from '#base/dns-name.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { dir } from '#contract/paths.ts';
import { hostVariableSources } from '#contract/services/manifest.ts';

export const flags = {
  kubeconfig: { value: 'path', help: 'kubeconfig of the agent' },
  namespace: { value: 'name', help: 'namespace of the operator, where the services ConfigMaps are' },
  node: { value: 'name', help: 'name of the Node of this host, in lower case', expected: noNodeName },
  'desired-version': { value: 'version', help: 'version whose services are started' },
  'keep-settings': { help: 'leave variables and certificates for the next configuration, which saves two reboots' },
  'windows-service': { help: 'run under the Windows service manager' },
  'log-dir': { value: 'directory', help: 'where log files are written; standard error when absent' },
  'log-file-max-size': {
    value: 'megabytes',
    help: 'size of one log file; 0 for no limit',
    default: '100',
    expected: noSize,
  },
  'service-log-size': { value: 'megabytes', help: 'what --log-file-max-size the service is given', expected: noSize },
  'ca-bundle': { value: 'path', help: 'certificates to trust; none when absent' },
  'cert-dir': { value: 'directory', help: 'where the client certificate is kept', default: dir.agentCerts },
  'cert-duration': {
    value: 'duration',
    help: 'how long a client certificate is asked for',
    default: defaultCertificateLifetime,
    expected: noTime,
  },
  'new-key': { help: 'make new keys instead of keeping those that are there' },
  'keep-command': { help: 'leave the command line of a service that is there, because another version has made it' },
  'cloud-node': { help: 'keep a client certificate for cloud-node-manager, too (Azure)' },
  'name-source': {
    value: 'source',
    help: 'where the kubelet gets its name on a host that is not configured; the computer name when absent',
    expected: noSource,
  },
  bundle: { value: 'path', help: 'uploaded bundle' },
  sha256: { value: 'hash', help: 'SHA-256 of the whole bundle', expected: noHash },
  'boot-id': { value: 'id', help: 'the boot to end, as inventory tells it; in any other boot nothing happens' },
  delay: { value: 'duration', help: 'how long Windows waits before it goes down', default: '3s', expected: noDelay },
  name: { value: 'name', help: 'new name of the host' },
  probe: { value: 'url', help: 'address of an API server that the host should reach', expected: noServer },
  output: { value: 'form', short: 'o', help: 'text, or json for one document', default: 'text', expected: noForm },
} as const satisfies Flags;

export type FlagName = keyof typeof flags;

/** Text of every flag, given or default; a switch is `true` or `false`. */
export type FlagValues = Readonly<Record<FlagName, string>>;

export function flagOf(name: FlagName): Flag {
  return flags[name];
}

/** For durations that the parser has let through. */
export function durationMs(text: string): number {
  return parseGoDuration(text) ?? 0;
}

function noSize(text: string): string | undefined {
  return /^\d{1,9}$/.test(text) ? undefined : 'a whole number of megabytes';
}

function noTime(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) > 0 ? undefined : 'a duration such as 10m, 1h or 24h';
}

/** Windows takes at most ten years; an hour is already a mistake. */
function noDelay(text: string): string | undefined {
  const ms = parseGoDuration(text) ?? -1;
  return ms >= 0 && ms <= 3_600_000 ? undefined : 'a duration such as 3s, at most 1h';
}

function noHash(text: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? undefined : '64 hexadecimal digits';
}

function noServer(text: string): string | undefined {
  return text.startsWith('https://') && URL.canParse(text) ? undefined : 'a URL that begins with https://';
}

function noNodeName(text: string): string | undefined {
  return isNodeName(text) ? undefined : 'the name of a Node: lower-case letters, digits, hyphens and dots';
}

function noSource(text: string): string | undefined {
  return hostVariableSources.some(source => source === text) ? undefined : `one of ${hostVariableSources.join(', ')}`;
}

function noForm(text: string): string | undefined {
  return text === 'text' || text === 'json' ? undefined : 'text or json';
}
