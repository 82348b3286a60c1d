import type { Flag, Flags } from '#base/command-line.ts';
import { isNodeName } from '#base/dns-name.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { dir } from '#contract/paths.ts';
import { readKeyWord } from '#contract/authorized-keys.ts';
import { hostVariableSources } from '#contract/services/manifest.ts';
import { keptSets } from '../activation/journal.ts';
import { parseTerm } from '../lock/leader.ts';

export const flags = {
  kubeconfig: { value: 'path', help: 'kubeconfig of the agent' },
  namespace: { value: 'name', help: 'namespace of the operator, where the services ConfigMaps are' },
  node: { value: 'name', help: 'name of the Node of this host, in lower case', expected: noNodeName },
  'desired-version': { value: 'version', help: 'version of the services to start' },
  'keep-settings': { help: 'keep variables and certificates for the next configuration, which saves two reboots' },
  'windows-service': { help: 'run under the Windows service manager' },
  'log-dir': { value: 'directory', help: 'directory of the log files; default: standard error' },
  'log-file-max-size': {
    value: 'megabytes',
    help: 'size of one log file; 0 for no limit',
    default: '100',
    expected: noSize,
  },
  'service-log-size': { value: 'megabytes', help: '--log-file-max-size of the service', expected: noSize },
  'ca-bundle': { value: 'path', help: 'certificates to trust; default: none' },
  'cert-dir': { value: 'directory', help: 'directory of the client certificate', default: dir.agentCerts },
  'cert-duration': {
    value: 'duration',
    help: 'requested lifetime of client certificates',
    default: defaultCertificateLifetime,
    expected: noTime,
  },
  'new-key': { help: 'replace existing keys' },
  'keep-command': { help: 'keep the command line of an installed service of another version' },
  'cloud-node': { help: 'also maintain a client certificate for cloud-node-manager (Azure)' },
  'name-source': {
    value: 'source',
    help: 'source of the node name on a host that is not configured; default: the computer name',
    expected: noSource,
  },
  next: { help: 'keep the files as the next set, and place none' },
  set: { value: 'set', help: 'next or previous', expected: noSet },
  bundle: { value: 'path', help: 'uploaded bundle' },
  sha256: { value: 'hash', help: 'SHA-256 of the whole bundle', expected: noHash },
  'boot-id': { value: 'id', help: 'current boot ID, as shown by inventory; in another boot the command has no effect' },
  delay: { value: 'duration', help: 'delay before Windows shuts down', default: '3s', expected: noDelay },
  name: { value: 'name', help: 'new name of the host' },
  add: { value: 'key', help: 'public key to let in: its wire format, as base64url', expected: noKey },
  remove: { value: 'key', help: 'public key not to let in any more, in the same form', expected: noKey },
  leader: {
    value: 'term',
    help: 'operator that orders it, as UID and count of its Lease; one that leads no more is refused',
    expected: noTerm,
  },
  probe: { value: 'url', help: 'URL of an API server that the host has to reach', expected: noServer },
  output: { value: 'form', short: 'o', help: 'text or json', default: 'text', expected: noForm },
} as const satisfies Flags;

export type FlagName = keyof typeof flags;

/** The value of every flag, or its default; a switch is `true` or `false`. */
export type FlagValues = Readonly<Record<FlagName, string>>;

export function flagOf(name: FlagName): Flag {
  return flags[name];
}

/** For durations that the parser has accepted. */
export function durationMs(text: string): number {
  return parseGoDuration(text) ?? 0;
}

function noSize(text: string): string | undefined {
  return /^\d{1,9}$/.test(text) ? undefined : 'a whole number of megabytes';
}

function noTime(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) > 0 ? undefined : 'a duration such as 10m, 1h or 24h';
}

/** Windows accepts up to ten years, but more than an hour is a typing error. */
function noDelay(text: string): string | undefined {
  const ms = parseGoDuration(text) ?? -1;
  return ms >= 0 && ms <= 3_600_000 ? undefined : 'a duration such as 3s, at most 1h';
}

function noHash(text: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? undefined : '64 hexadecimal digits';
}

function noTerm(text: string): string | undefined {
  return parseTerm(text) === undefined ? 'the UID and the count of transitions of a Lease, joined by a dot' : undefined;
}

function noKey(text: string): string | undefined {
  const types = 'Ed25519, ECDSA or RSA';
  return readKeyWord(text) === undefined ? `a public key (${types}) in wire format, as base64url` : undefined;
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

function noSet(text: string): string | undefined {
  return keptSets.some(set => set === text) ? undefined : `one of ${keptSets.join(', ')}`;
}

function noForm(text: string): string | undefined {
  return text === 'text' || text === 'json' ? undefined : 'text or json';
}
