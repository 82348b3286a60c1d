import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../status/options.ts';
import { readWaitOptions, waitFlags, type WaitOptions } from '../wait-options.ts';

export interface RebootOptions extends ClusterOptions, WaitOptions {
  /** Any name of the host. */
  host: string;
}

const flags = { ...waitFlags('reboot'), ...clusterFlags } as const satisfies Flags;

export const rebootLine: CommandLine<typeof flags> = {
  name: 'wmco reboot',
  summary: 'reboots a Windows host within the disruption budget',
  flags,
  argument: { name: 'host', help: 'its instance, address, DNS name, Machine or Node' },
  details: `The operator drains the Node, reboots the host, waits until the Node is Ready, and uncordons it. Other Nodes that are
out of service make it wait. Ctrl-C ends this command, not the reboot.

Examples:
  wmco reboot win-2
  wmco reboot win-2 --no-wait

Exit code: 0 the host was rebooted (with --no-wait: the reboot is requested), 1 it was not, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readRebootOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RebootOptions | undefined {
  const parsed = parseCommandLine(rebootLine, words);
  if (parsed === undefined) return undefined;
  const { args, values } = parsed;
  const [host = ''] = args;
  if (host === '') throw usage(rebootLine, 'missing the host');
  return { host, ...readWaitOptions(values), ...clusterOptions(values, environment) };
}
