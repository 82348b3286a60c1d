import { type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { defaultNamespace } from '#contract/names.ts';

export interface StatusOptions {
  /** Any name of a host; all hosts when not set. */
  host: string | undefined;
  watch: boolean;
  form: 'text' | 'json';
  kubeconfig: string | undefined;
  context: string | undefined;
  namespace: string;
}

const flags = {
  watch: { short: 'w', help: 'follow changes until Ctrl-C' },
  output: { short: 'o', value: 'format', default: 'text', help: 'text or json', values: ['text', 'json'] },
  kubeconfig: {
    value: 'file',
    help: 'kubeconfig of the cluster; defaults to KUBECONFIG, ~/.kube/config, or the service account of the pod',
  },
  context: { value: 'name', help: 'context of the kubeconfig' },
  namespace: { short: 'n', value: 'name', help: 'namespace of the operator' },
} as const satisfies Flags;

export const statusLine: CommandLine<typeof flags> = {
  name: 'wmco status',
  summary: 'shows the Windows hosts of a cluster, their problems, and how to fix them',
  flags,
  argument: { name: 'host', help: 'one host in full: its instance, address, DNS name, Machine or Node' },
  details: `Examples:
  wmco status
  wmco status -w
  wmco status win-2

Exit code: 0 every host is Ready or paused, 1 some are not or the cluster cannot be read, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readStatusOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): StatusOptions | undefined {
  const parsed = parseCommandLine(statusLine, words);
  if (parsed === undefined) return undefined;
  const { argument, values } = parsed;
  const watch = values.watch === 'true';
  const form = values.output === 'json' ? 'json' : 'text';
  if (watch && form === 'json') {
    throw new AppError('USAGE', '-w and -o json cannot be combined', {
      remedy: 'For a stream of JSON run `kubectl get windowsinstances -w -o json`.',
    });
  }
  return {
    host: argument || undefined,
    watch,
    form,
    kubeconfig: values.kubeconfig || undefined,
    context: values.context || undefined,
    namespace: values.namespace || environment['WATCH_NAMESPACE'] || defaultNamespace,
  };
}
