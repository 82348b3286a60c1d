import type { CommandLine, Flags } from '#base/command-line.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { payloadKubeletVersion } from '#contract/version.ts';

/** The command line of the operator. Names of the Go operator are kept as they are. */
const flags = {
  debugLogging: { help: 'log more, here and in the services on Windows nodes' },
  'metrics-bind-address': {
    value: 'address',
    default: '0.0.0.0:9182',
    help: 'where metrics are served: with TLS and for whoever may read them, plainly on loopback; 0 for nowhere',
  },
  'health-probe-bind-address': {
    value: 'address',
    default: '0.0.0.0:9183',
    help: 'where /healthz and /readyz are served; 0 for nowhere',
  },
  kubeconfig: { value: 'file', help: 'how to reach the cluster; the service account of the pod when absent' },
  namespace: { value: 'name', help: 'namespace of the operator; the variable WATCH_NAMESPACE when absent' },
  'payload-dir': { value: 'folder', default: '/payload', help: 'where the programs for Windows hosts are' },
  'payload-cache-dir': {
    value: 'folder',
    default: '/tmp/windows-machine-config-operator',
    help: 'where they are kept as they are sent',
  },
  'max-parallel-joins': { value: 'number', default: '20', help: 'how many hosts may become nodes at the same time' },
  'max-parallel-uploads': {
    value: 'number',
    default: '5',
    help: 'to how many of them files are sent at the same time',
  },
  'token-lifetime': {
    value: 'duration',
    default: '1h',
    help: 'how long tokens live that are written on hosts: for as long as a host may be off and still come back by itself',
  },
  'allow-lasting-tokens': {
    help: 'use tokens that never expire where the cluster issues no short-lived ones; a risk: a host keeps access for good',
  },
  'agent-certificate-lifetime': {
    value: 'duration',
    default: defaultCertificateLifetime,
    help: 'how long client certificates of agents are requested for; they are renewed from half of it on',
  },
  'kubelet-version': {
    value: 'version',
    default: payloadKubeletVersion,
    help: 'version of the kubelet in the payload, if it is another than the one this operator was made with',
  },
} as const satisfies Flags;

export type FlagName = keyof typeof flags;
export type FlagValues = Readonly<Record<FlagName, string>>;

export const operatorLine: CommandLine<typeof flags> = {
  name: 'wmco operator',
  summary: 'runs the operator until it is stopped',
  flags,
};
