import type { Flags } from '#base/command-line.ts';
import type { AppError } from '#base/errors.ts';
import type { Input } from './input.ts';
import type { Shown } from './output.ts';

/** Every option that was not given is absent. */
export type Options = Readonly<Record<string, string | boolean | string[] | undefined>>;

export interface Outcome {
  shown: Shown;
  /** Told on standard error; one or more of them make the exit code 1. */
  findings: AppError[];
}

/** One thing `wmco render` or `wmco check` can do, as data: the command line is built from a list of these. */
export interface Command {
  name: string;
  summary: string;
  /** A command that works as written, shown by --help. */
  example: string;
  /** What the input must hold; shown by --help. Empty when no input is read. */
  reads: string;
  options: readonly (keyof typeof optionFlags)[];
  /** Whether these options say everything that would be read. */
  standsAlone?: (options: Options) => boolean;
  run(input: Input, options: Options): Outcome | Promise<Outcome>;
}

/** Every option beside -f and -o. */
export const optionFlags = {
  namespace: { value: 'name', help: 'namespace of the operator' },
  operatorVersion: { value: 'version', help: 'operator version to render for' },
  debug: { help: 'as if the operator ran with --debugLogging' },
  env: {
    value: 'NAME=VALUE...',
    isList: true,
    help: 'environment of the operator: proxy and SERVICES_LOG_* variables',
  },
  platform: { value: 'name', help: 'platform, instead of the one in the Infrastructure object' },
  publicKey: { value: 'file', help: 'authorized_keys line, instead of the Secret cloud-private-key' },
  serviceCidr: { value: 'cidr', help: 'service network, instead of the one in the Network object' },
  showSecrets: { help: 'print keys, tokens and passwords' },
  resolve: { help: 'resolve the listed DNS names' },
  agentCertificateLifetime: { value: 'duration', help: 'as the operator is given it, such as 24h' },
  serverVersion: { value: 'version', help: 'gitVersion of the API server, such as v1.36.2' },
} as const satisfies Flags;

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}
