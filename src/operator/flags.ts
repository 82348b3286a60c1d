import { type CommandLine, type Flags, notEmpty } from '#base/command-line.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { payloadKubeletVersion } from '#contract/version.ts';

/** The command line of the operator. Flags of the Go operator keep their names. */
const flags = {
  debugLogging: { help: 'debug logging, also of the services on Windows nodes' },
  'metrics-bind-address': {
    value: 'address',
    default: '0.0.0.0:9182',
    help: 'address for metrics, with TLS and authorization, plain HTTP on loopback; 0 to disable',
  },
  'health-probe-bind-address': {
    value: 'address',
    default: '0.0.0.0:9183',
    help: 'address for /healthz and /readyz; 0 to disable',
  },
  kubeconfig: { value: 'file', help: 'kubeconfig file; default is the service account of the pod' },
  namespace: { value: 'name', help: 'namespace of the operator; default is the variable WATCH_NAMESPACE' },
  'payload-dir': { value: 'folder', default: '/payload', help: 'folder with the programs for Windows hosts' },
  'payload-cache-dir': {
    value: 'folder',
    default: '/tmp/windows-machine-config-operator',
    help: 'folder for packed programs',
  },
  'payload-key': {
    value: 'file',
    help: 'public key (PEM) that must have signed the payload; default is the key of the release',
    expected: notEmpty('the path of a key'),
  },
  'max-parallel-joins': { value: 'number', default: '20', help: 'hosts that are configured at the same time' },
  'max-parallel-uploads': {
    value: 'number',
    default: '5',
    help: 'hosts that receive files at the same time',
  },
  'token-lifetime': {
    value: 'duration',
    default: '1h',
    help: 'lifetime of the tokens with which hosts request their first certificates',
  },
  'allow-lasting-tokens': {
    help: 'use tokens that never expire if the cluster issues no short-lived ones; a risk: hosts keep access forever',
  },
  'forget-private-keys': {
    help: 'keep former private keys in memory only; after a restart, hosts that lack the new key are out of reach',
  },
  'authorize-keys': {
    help: 'during a rotation, add the new public key to hosts that accept the former one, and remove that',
  },
  'agent-certificate-lifetime': {
    value: 'duration',
    default: defaultCertificateLifetime,
    help: 'lifetime of client certificates of agents; they are renewed after half of it',
  },
  'kubelet-version': {
    value: 'version',
    default: payloadKubeletVersion,
    help: 'version of the kubelet in the payload, if it differs from the default',
  },
} as const satisfies Flags;

export type FlagName = keyof typeof flags;
export type FlagValues = Readonly<Record<FlagName, string>>;

export const operatorLine: CommandLine<typeof flags> = {
  name: 'wmco operator',
  summary: 'run the operator until it is stopped',
  flags,
};
