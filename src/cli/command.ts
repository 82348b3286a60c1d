import type { Flags } from '#base/command-line.ts';
import type { AppError } from '#base/errors.ts';
import { platformTypes } from '#contract/names.ts';
import type { Input } from './input.ts';
import type { CommandOutput } from './output.ts';

/** Options that were given, and operatorVersion. */
export type Options = Readonly<Record<string, string | boolean | string[] | undefined>>;

export interface Outcome {
  output: CommandOutput;
  /** Printed to standard error; any of them makes the exit code 1. */
  findings: AppError[];
}

/** A subcommand of `wmco render` or `wmco check`, as data. */
export interface Command {
  name: string;
  summary: string;
  /** Works as written; printed by --help. */
  example: string;
  /** Objects that the input must contain, printed by --help; empty when the command reads no input. */
  reads: string;
  options: readonly (keyof typeof optionFlags)[];
  /** True if these options replace the input. */
  needsNoInput?: (options: Options) => boolean;
  run(input: Input, options: Options): Outcome | Promise<Outcome>;
}

/** Every option beside -f and -o. */
export const optionFlags = {
  namespace: { value: 'name', help: 'namespace of the operator' },
  operatorVersion: { value: 'version', help: 'operator version to render for; default is the version of this program' },
  debug: { help: 'render for an operator with --debugLogging' },
  env: {
    value: 'NAME=VALUE...',
    isList: true,
    help: 'environment of the operator: proxy and SERVICES_LOG_* variables',
  },
  platform: {
    value: 'name',
    values: platformTypes,
    help: 'platform, such as AWS or VSphere, instead of the one in the Infrastructure object',
  },
  publicKey: { value: 'file', help: 'authorized_keys line, instead of the Secret cloud-private-key' },
  serviceCidr: { value: 'cidr', help: 'service network, instead of the one in the Network object' },
  showSecrets: { help: 'print keys, tokens and passwords' },
  resolve: { help: 'resolve the listed DNS names' },
  agentCertificateLifetime: { value: 'duration', help: 'the value of the operator flag of the same name, such as 24h' },
  serverVersion: { value: 'version', help: 'gitVersion of the API server, such as v1.36.2' },
} as const satisfies Flags;

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}
