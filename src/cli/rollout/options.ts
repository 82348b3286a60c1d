import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../status/options.ts';

export const rolloutSummary = 'show and control the upgrade of the Windows hosts';

const host = { name: 'host', help: 'its instance, address, DNS name, Machine or Node' } as const;
const exitCodes = 'Exit code: 0 done, 1 refused, 2 usage error.';

const forms = ['text', 'json', 'yaml'] as const;
const showFlags = {
  output: { short: 'o', value: 'format', default: 'text', values: forms, help: forms.join(', ') },
  ...clusterFlags,
} as const satisfies Flags;
const continueFlags = {
  yes: { short: 'y', help: 'do not ask; needed without a terminal' },
  ...clusterFlags,
} as const satisfies Flags;
const pinFlags = {
  version: { value: 'version', help: 'fails unless the host runs this version; default is the version that it runs' },
  ...clusterFlags,
} as const satisfies Flags;

/** The command lines of `wmco rollout`; the first is the default. */
export const rolloutCommandLines = {
  show: {
    name: 'wmco rollout show',
    summary: 'print how far the roll-out is, and what it waits for',
    flags: showFlags,
    details: `\`wmco rollout\` is the same. \`wmco status\` shows each host.

Exit code: 0 the roll-out goes on or has ended, 1 a host was rolled back and stops it, 2 usage error.`,
  },
  pause: {
    name: 'wmco rollout pause',
    summary: 'start no further upgrade, and take no further node out of service',
    flags: clusterFlags,
    details: `Sets \`paused\` in the ConfigMap windows-rollout. Nodes that are out of service are finished.\n\n${exitCodes}`,
  },
  resume: {
    name: 'wmco rollout resume',
    summary: 'end the pause',
    flags: clusterFlags,
    details: `Sets \`paused\` in the ConfigMap windows-rollout to false.\n\n${exitCodes}`,
  },
  continue: {
    name: 'wmco rollout continue',
    summary: 'upgrade the other hosts, although a host was rolled back',
    flags: continueFlags,
    details: `Accepts every rollback of the current version. The hosts that were rolled back keep their former version until
\`wmco rollout retry\`, or the next version of the operator.

${exitCodes}`,
  },
  retry: {
    name: 'wmco rollout retry',
    summary: 'try again to upgrade a host that was rolled back, or that failed',
    flags: clusterFlags,
    argument: host,
    details: `Example:\n  wmco rollout retry win-3\n\n${exitCodes}`,
  },
  pin: {
    name: 'wmco rollout pin',
    summary: 'keep a host at the version that it runs',
    flags: pinFlags,
    argument: host,
    details: `The operator serves a pinned host, and does not upgrade it. Example:\n  wmco rollout pin win-3\n\n${exitCodes}`,
  },
  unpin: {
    name: 'wmco rollout unpin',
    summary: 'upgrade a pinned host with the others again',
    flags: clusterFlags,
    argument: host,
    details: `Example:\n  wmco rollout unpin win-3\n\n${exitCodes}`,
  },
} as const satisfies Record<string, CommandLine>;

export type RolloutCommandName = keyof typeof rolloutCommandLines;

export interface RolloutOptions extends ClusterOptions {
  /** Any name of the host; empty for commands that have none. */
  host: string;
  /** Skips the question. */
  yes: boolean;
  /** Empty when not given. */
  version: string;
  form: (typeof forms)[number];
}

/** Undefined when help is requested. */
export function readRolloutOptions(
  line: CommandLine,
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RolloutOptions | undefined {
  const parsed = parseCommandLine(line, words);
  if (parsed === undefined) return undefined;
  const { args, values } = parsed;
  const [wanted = ''] = args;
  if (line.argument !== undefined && wanted === '') throw usage(line, 'missing the host');
  const { yes, version = '', output = 'text', kubeconfig = '', context = '', namespace = '' } = values;
  return {
    host: wanted,
    yes: yes === 'true',
    version,
    form: output as RolloutOptions['form'],
    ...clusterOptions({ kubeconfig, context, namespace }, environment),
  };
}
