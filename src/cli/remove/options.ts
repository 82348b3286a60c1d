import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../status/options.ts';
import { readWaitOptions, waitFlags, type WaitOptions } from '../wait-options.ts';

export interface RemoveOptions extends ClusterOptions, WaitOptions {
  /** Any name of the host; with `forget`, the name of its Node. */
  host: string;
  force: boolean;
  /** Skips the question. */
  yes: boolean;
  forget: boolean;
  username: string | undefined;
}

const flags = {
  force: { help: 'skip a host that does not answer, and pods that cannot be evicted' },
  yes: { short: 'y', help: 'do not ask; needed without a terminal' },
  username: { value: 'name', help: 'Windows user of the host, only for a Node without a WindowsInstance' },
  ...waitFlags('removal'),
  forget: { help: 'delete the note about a host that was removed by force' },
  ...clusterFlags,
} as const satisfies Flags;

export const removeLine: CommandLine<typeof flags> = {
  name: 'wmco remove',
  summary: 'removes a Windows host from the cluster and cleans it',
  flags,
  argument: { name: 'host', help: 'its instance, address, DNS name or Node' },
  details: `The operator drains the Node, deletes everything that it installed on the host, and then deletes the Node. Other
Nodes that are out of service make it wait. Ctrl-C ends this command, not the removal.

Examples:
  wmco remove win-2
  wmco remove win-2 --yes --no-wait
  wmco remove win-2 --force                      # its host is gone
  wmco remove win-2 --username Administrator     # a Node that no entry, Machine or WindowsInstance describes
  wmco remove --forget win-2                     # its host was cleaned by hand

Exit code: 0 the host is removed (with --no-wait: the removal is requested), 1 it is not, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readRemoveOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RemoveOptions | undefined {
  const parsed = parseCommandLine(removeLine, words);
  if (parsed === undefined) return undefined;
  const { args, values, given } = parsed;
  const [host = ''] = args;
  if (host === '') throw usage(removeLine, 'missing the host');
  const forget = values.forget === 'true';
  const [other] = ['force', 'username', 'no-wait', 'timeout'].filter(name => given.has(name));
  if (forget && other !== undefined) throw usage(removeLine, `--forget and --${other} cannot be combined`);
  return {
    host,
    force: values.force === 'true',
    yes: values.yes === 'true',
    forget,
    username: values.username || undefined,
    ...readWaitOptions(values),
    ...clusterOptions(values, environment),
  };
}
