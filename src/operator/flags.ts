import { AppError, shown } from '#base/errors.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { payloadKubeletVersion } from '#contract/version.ts';

interface Flag {
  help: string;
  /** What stands for the value in help; absent for a switch. */
  value?: string;
  usual?: string;
}

/** The command line of the operator. Names of the Go operator are kept as they are. */
export const flags = {
  debugLogging: { help: 'log more, here and in the services on Windows nodes' },
  'metrics-bind-address': {
    value: 'address',
    usual: '0.0.0.0:9182',
    help: 'where metrics are served: with TLS and for whoever may read them, plainly on loopback; 0 for nowhere',
  },
  'health-probe-bind-address': {
    value: 'address',
    usual: '0.0.0.0:9183',
    help: 'where /healthz and /readyz are served; 0 for nowhere',
  },
  kubeconfig: { value: 'file', help: 'how to reach the cluster; the service account of the pod when absent' },
  namespace: { value: 'name', help: 'namespace of the operator; the variable WATCH_NAMESPACE when absent' },
  'payload-dir': { value: 'folder', usual: '/payload', help: 'where the programs for Windows hosts are' },
  'payload-cache-dir': {
    value: 'folder',
    usual: '/tmp/windows-machine-config-operator',
    help: 'where they are kept as they are sent',
  },
  'max-parallel-joins': { value: 'number', usual: '20', help: 'how many hosts may become nodes at the same time' },
  'max-parallel-uploads': { value: 'number', usual: '5', help: 'to how many of them files are sent at the same time' },
  'token-lifetime': {
    value: 'duration',
    usual: '1h',
    help: 'how long tokens live that are written on hosts: for as long as a host may be off and still come back by itself',
  },
  'allow-lasting-tokens': {
    help: 'use tokens that never expire where the cluster issues no short-lived ones; a risk: a host keeps access for good',
  },
  'agent-certificate-lifetime': {
    value: 'duration',
    usual: defaultCertificateLifetime,
    help: 'how long client certificates of agents are requested for; they are renewed from half of it on',
  },
  'kubelet-version': {
    value: 'version',
    usual: payloadKubeletVersion,
    help: 'version of the kubelet in the payload, if it is another than the one this operator was made with',
  },
  help: { help: 'show this text' },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;
export type FlagValues = Readonly<Record<FlagName, string>>;

const on = 'true';

/** Reads `--name value` and `--name=value`; a switch alone is on. Whatever is not understood is refused. */
export function parseFlags(words: readonly string[]): FlagValues {
  const values = Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, defaultOf(flag)]));
  for (let index = 0; index < words.length; index += 1) {
    const [name, given] = split(words[index] ?? '');
    const isSwitch = !('value' in flags[name]);
    if (isSwitch) values[name] = readSwitch(name, given ?? on);
    else {
      if (given === undefined) index += 1;
      const value = given ?? words[index];
      if (value === undefined) throw wrong(`--${name} has no value`);
      values[name] = value;
    }
  }
  return values as FlagValues;
}

export function isOn(values: FlagValues, name: FlagName): boolean {
  return values[name] === on;
}

export function helpText(): string {
  const rows = Object.entries(flags).map(([name, flag]: [string, Flag]) => {
    const left = flag.value === undefined ? `--${name}` : `--${name} <${flag.value}>`;
    return [left, flag.usual === undefined ? flag.help : `${flag.help} (${flag.usual})`] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, help]) => `  ${left.padEnd(width)}  ${help}`);
  return `Runs the operator until it is told to stop.\n\n${lines.join('\n')}\n`;
}

function defaultOf(flag: Flag): string {
  return flag.usual ?? (flag.value === undefined ? 'false' : '');
}

/** Name and value of a word; one dash is as good as two, as the Go operator has it. */
function split(word: string): [name: FlagName, value: string | undefined] {
  const [, name = '', equals, value = ''] = /^--?([A-Za-z-]+)(?:(=)(.*))?$/s.exec(word) ?? [];
  if (!Object.hasOwn(flags, name)) throw wrong(`${shown(word)} is not understood`);
  return [name as FlagName, equals === undefined ? undefined : value];
}

function readSwitch(name: string, value: string): string {
  if (['true', 'false'].includes(value)) return value;
  throw wrong(`--${name} is ${shown(value)}, not true or false`);
}

function wrong(message: string): AppError {
  return new AppError('USAGE', message, { remedy: 'See `wmco operator --help` for what is understood.' });
}
