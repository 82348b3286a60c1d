import { type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../status/options.ts';

export interface UninstallOptions extends ClusterOptions {
  removesNodes: boolean;
  dryRun: boolean;
  /** Skips the question. */
  yes: boolean;
  timeoutMs: number;
}

const flags = {
  'remove-nodes': { help: 'remove all Windows hosts first, and delete everything' },
  'dry-run': { help: 'only show what would be deleted' },
  yes: { short: 'y', help: 'do not ask; needed without a terminal' },
  timeout: {
    value: 'duration',
    default: '1h',
    help: 'how long to wait for the removal of the hosts, and for each deletion',
    expected: timeoutExpected,
  },
  ...clusterFlags,
} as const satisfies Flags;

export const uninstallLine: CommandLine<typeof flags> = {
  name: 'wmco uninstall',
  summary: 'uninstalls the operator; Windows nodes keep running unless --remove-nodes is given',
  flags,
  details: `Without --remove-nodes it deletes the operator and its permissions, and nothing that nodes use; a new installation
continues with them. With --remove-nodes it stops, with the operator still installed, when a host cannot be removed.
It can be stopped and run again at any time.

Examples:
  wmco uninstall --dry-run
  wmco uninstall
  wmco uninstall --remove-nodes --yes

Exit code: 0 uninstalled (or shown), 1 refused or not finished, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readUninstallOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): UninstallOptions | undefined {
  const parsed = parseCommandLine(uninstallLine, words);
  if (parsed === undefined) return undefined;
  const { values } = parsed;
  return {
    removesNodes: values['remove-nodes'] === 'true',
    dryRun: values['dry-run'] === 'true',
    yes: values.yes === 'true',
    timeoutMs: parseGoDuration(values.timeout) ?? 0,
    ...clusterOptions(values, environment),
  };
}

function timeoutExpected(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) >= 1000 ? undefined : 'a duration of at least one second, such as 90s or 10m';
}
