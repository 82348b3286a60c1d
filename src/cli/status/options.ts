import { Command as Commander } from 'commander';
import { AppError } from '#base/errors.ts';
import { defaultNamespace } from '#contract/names.ts';
import { commanderOutput } from '../safe-text.ts';
import type { LiveTerminal } from '../terminal.ts';

export interface StatusOptions {
  /** By any of its names; all of them when absent. */
  host: string | undefined;
  watch: boolean;
  form: 'text' | 'json';
  kubeconfig: string | undefined;
  context: string | undefined;
  namespace: string;
}

export function readStatusOptions(
  words: readonly string[],
  terminal: Pick<LiveTerminal, 'out' | 'err' | 'environment'>,
): StatusOptions {
  const command = new Commander('wmco status')
    .description('Shows how far the Windows hosts of a cluster are, what is wrong with them, and what to do.')
    .argument('[host]', 'one host in full: its instance, address, DNS name, Machine or Node')
    .option('-w, --watch', 'go on until Ctrl-C')
    .option('-o, --output <form>', 'text or json', 'text')
    .option(
      '--kubeconfig <file>',
      'how to reach the cluster; else KUBECONFIG, ~/.kube/config, or the account of the pod',
    )
    .option('--context <name>', 'context of the kubeconfig')
    .option('-n, --namespace <name>', 'namespace of the operator')
    .allowExcessArguments(false)
    .addHelpText('after', helpEnd)
    .exitOverride()
    .configureOutput(commanderOutput(terminal));
  command.parse([...words], { from: 'user' });
  const given = command.opts<Record<string, string | boolean | undefined>>();
  const [host] = command.args;
  const { output, watch = false, namespace } = given;
  if (output !== 'text' && output !== 'json')
    throw usage(`-o ${String(output)} is not an output form`, 'Use -o text or -o json.');
  if (watch === true && output === 'json')
    throw usage(
      '-w and -o json do not go together',
      'For a stream of data use `kubectl get windowsinstances -w -o json`.',
    );
  return {
    host: host === '' ? undefined : host,
    watch: watch === true,
    form: output,
    kubeconfig: textOf(given['kubeconfig']),
    context: textOf(given['context']),
    namespace: textOf(namespace) ?? (terminal.environment['WATCH_NAMESPACE'] || defaultNamespace),
  };
}

const helpEnd = `
Examples:
  wmco status
  wmco status -w
  wmco status win-2

Exit code: 0 every host is Ready or paused, 1 some are not or nothing could be read, 2 wrong use.`;

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function usage(message: string, remedy: string): AppError {
  return new AppError('USAGE', message, { remedy });
}
