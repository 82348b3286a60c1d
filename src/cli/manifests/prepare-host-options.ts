import { type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { type ClusterOptions, clusterFlags, clusterOptions } from '../status/options.ts';

export interface PrepareHostOptions extends ClusterOptions {
  /** Instead of the Secret in the cluster. */
  keyFile: string | undefined;
  capabilitySource: string | undefined;
}

const flags = {
  'key-file': {
    value: 'file',
    help: 'public key of the operator; default is that of the Secret cloud-private-key in the cluster',
  },
  'capability-source': {
    value: 'folder',
    help: 'folder on the host with the OpenSSH capability, for hosts without access to Windows Update',
  },
  ...clusterFlags,
} as const satisfies Flags;

export const prepareHostLine: CommandLine<typeof flags> = {
  name: 'wmco prepare-host',
  summary: 'prints the PowerShell that makes a bare Windows Server ready to be listed in windows-instances',
  flags,
  details: `The script installs and starts OpenSSH, opens the firewall and authorizes the key. It changes only what differs.

Examples:
  wmco prepare-host --key-file windows-key.pub > prepare-host.ps1
  wmco prepare-host --key-file windows-key.pub --capability-source 'D:\\LanguagesAndOptionalFeatures'

Exit code: 0 success, 1 there is no usable key, or it is weak, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readPrepareHostOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): PrepareHostOptions | undefined {
  const parsed = parseCommandLine(prepareHostLine, words);
  if (parsed === undefined) return undefined;
  const { values } = parsed;
  return {
    keyFile: values['key-file'] || undefined,
    capabilitySource: values['capability-source'] || undefined,
    ...clusterOptions(values, environment),
  };
}
