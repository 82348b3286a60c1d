import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { parseGoDuration } from '#base/go-duration.ts';

export interface SandboxOptions {
  hosts: number;
  machines: number;
  /** `list` prints their names. */
  faults: readonly string[] | 'list';
  speed: number;
  exitWhenReady: boolean;
  serve: boolean;
  port: number | undefined;
  /** Replaces the default path of the kubeconfig. */
  kubeconfig: string | undefined;
  /** Replaces the default path of the operator log. */
  log: string | undefined;
  timeoutMs: number;
  /** Explains a part of the operator, then exits. */
  story: StoryName | undefined;
}

/** Stories with their number of hosts. */
const storyHosts = { remove: 2, upgrade: 4, rollback: 3, rotate: 2, takeover: 4 } as const;
export type StoryName = keyof typeof storyHosts;
export const storyNames = Object.keys(storyHosts) as StoryName[];

/** More would overload a laptop. */
const [maxHosts, maxSpeed] = [500, 1000];

const flags = {
  hosts: { value: 'number', default: '6', help: 'hosts listed in windows-instances', expected: hostsExpected },
  machines: { value: 'number', default: '2', help: 'Machines of a MachineSet', expected: hostsExpected },
  faults: {
    value: 'FAULT@HOST,...',
    isValueOptional: true,
    help: 'faults of hosts; without a value, print all faults',
  },
  speed: { value: 'factor', default: '2', help: 'speed of simulated work', expected: speedExpected },
  'exit-when-ready': { help: 'exit when every host is Ready or has failed for good' },
  serve: { help: 'keep running until stopped, even without a terminal' },
  port: { value: 'number', help: 'port of the API server; 0, the default, is any free port', expected: portExpected },
  kubeconfig: { value: 'file', help: 'write the kubeconfig to this file' },
  log: { value: 'file', help: 'write the log of the operator to this file' },
  timeout: {
    value: 'duration',
    default: '10m',
    help: 'time limit for all hosts to become Ready',
    expected: timeoutExpected,
  },
  story: {
    value: 'name',
    values: storyNames,
    help: 'show and explain: remove (a host), upgrade (all hosts to a new version), rollback (of a bad version), rotate (the private key), takeover (from the Go operator)',
  },
} as const satisfies Flags;

export const sandboxLine: CommandLine<typeof flags> = {
  name: 'wmco sandbox',
  summary: 'runs a cluster, the operator and simulated Windows hosts in one process',
  flags,
  details: `On a terminal it keeps running when all hosts are Ready. Without a terminal it exits, unless --serve is given.

Examples:
  wmco sandbox
  wmco sandbox --hosts 20 --machines 0 --speed 5 --exit-when-ready
  wmco sandbox --faults wrong-key@win-2,slow-disk@win-5,no-admin@winworker-1
  wmco sandbox --story remove
  wmco sandbox --story upgrade
  wmco sandbox --story rotate

Exit code: 0 all hosts are Ready, 1 some are not, 2 usage error. A story: 0 it went as described, 1 it did not.`,
};

/** Undefined when help is requested. */
export function readSandboxOptions(words: readonly string[]): SandboxOptions | undefined {
  const parsed = parseCommandLine(sandboxLine, words);
  if (parsed === undefined) return undefined;
  const { values, given } = parsed;
  const options = {
    hosts: Number(values.hosts),
    machines: Number(values.machines),
    faults: faultsFrom(given.get('faults')?.at(-1)),
    speed: Number(values.speed),
    exitWhenReady: values['exit-when-ready'] === 'true',
    serve: values.serve === 'true',
    port: values.port === '' ? undefined : Number(values.port),
    kubeconfig: values.kubeconfig || undefined,
    log: values.log || undefined,
    timeoutMs: parseGoDuration(values.timeout) ?? 0,
    story: storyNames.find(name => name === values.story),
  };
  if (options.story !== undefined) return storyOptions(options, options.story, given);
  if (options.exitWhenReady && options.serve) {
    throw usage(sandboxLine, '--exit-when-ready and --serve cannot be combined');
  }
  if (options.hosts + options.machines === 0) throw usage(sandboxLine, '--hosts and --machines are both 0');
  return options;
}

/** A story has its own hosts. */
function storyOptions(options: SandboxOptions, story: StoryName, given: ReadonlyMap<string, unknown>): SandboxOptions {
  const [other] = ['hosts', 'machines', 'faults', 'serve', 'exit-when-ready'].filter(name => given.has(name));
  if (other !== undefined) throw usage(sandboxLine, `--story and --${other} cannot be combined`);
  return { ...options, hosts: storyHosts[story], machines: 0 };
}

function hostsExpected(text: string): string | undefined {
  return isWholeNumber(text, maxHosts) ? undefined : `a whole number up to ${maxHosts}`;
}

function portExpected(text: string): string | undefined {
  return isWholeNumber(text, 65_535) ? undefined : 'a port from 1 to 65535, or 0 for any free port';
}

function isWholeNumber(text: string, max: number): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= max;
}

function speedExpected(text: string): string | undefined {
  const speed = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return speed > 0 && speed <= maxSpeed ? undefined : `a number above 0 and up to ${maxSpeed}`;
}

function timeoutExpected(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) >= 1000 ? undefined : 'a duration of at least one second, such as 90s or 10m';
}

function faultsFrom(value: string | undefined): SandboxOptions['faults'] {
  if (value === undefined) return [];
  const named = value
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '');
  return named.length === 0 || named.includes('help') || named.includes('list') ? 'list' : named;
}
