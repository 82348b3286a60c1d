import type { AppError } from '#base/errors.ts';
import type { Input } from './input.ts';
import type { Shown } from './output.ts';

/** Options as commander hands them over: every name that was not given is absent. */
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
  options: readonly (keyof typeof optionTexts)[];
  /** Whether these options say everything that would be read. */
  standsAlone?: (options: Options) => boolean;
  run(input: Input, options: Options): Outcome | Promise<Outcome>;
}

/** Every option beside -f and -o, with its help text. */
export const optionTexts = {
  namespace: ['--namespace <name>', 'namespace of the operator'],
  operatorVersion: ['--operator-version <version>', 'operator version to render for'],
  debug: ['--debug', 'as if the operator ran with --debugLogging'],
  env: ['--env <NAME=VALUE...>', 'environment of the operator: proxy and SERVICES_LOG_* variables'],
  platform: ['--platform <name>', 'platform, instead of the one in the Infrastructure object'],
  publicKey: ['--public-key <file>', 'authorized_keys line, instead of the Secret cloud-private-key'],
  serviceCidr: ['--service-cidr <cidr>', 'service network, instead of the one in the Network object'],
  showSecrets: ['--show-secrets', 'print keys, tokens and passwords'],
  resolve: ['--resolve', 'ask DNS for the names listed'],
  agentCertificateLifetime: ['--agent-certificate-lifetime <duration>', 'as the operator is given it, such as 24h'],
  serverVersion: ['--server-version <version>', 'gitVersion of the API server, such as v1.36.2'],
} as const;

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}
