import { type CommandLine, type Flags, parseCommandLine, usage } from '#base/command-line.ts';
import { defaultNamespace } from '#contract/names.ts';

/** Which cluster, and where the operator is in it. */
export interface ClusterOptions {
  kubeconfig: string | undefined;
  context: string | undefined;
  namespace: string;
}

export interface StatusOptions extends ClusterOptions {
  /** Any names of hosts; all hosts when empty. */
  hosts: readonly string[];
  watch: boolean;
  form: (typeof forms)[number];
  hasHeaders: boolean;
}

const forms = ['text', 'wide', 'json', 'yaml', 'name'] as const;

export const clusterFlags = {
  kubeconfig: {
    value: 'file',
    help: 'kubeconfig of the cluster; defaults to KUBECONFIG, ~/.kube/config, or the service account of the pod',
  },
  context: { value: 'name', help: 'context of the kubeconfig' },
  namespace: { short: 'n', value: 'name', help: 'namespace of the operator' },
} as const satisfies Flags;

const flags = {
  watch: { short: 'w', help: 'follow changes until Ctrl-C' },
  output: { short: 'o', value: 'format', default: 'text', help: forms.join(', '), values: forms },
  'no-headers': { help: 'print tables without headings and counts' },
  ...clusterFlags,
} as const satisfies Flags;

export const statusLine: CommandLine<typeof flags> = {
  name: 'wmco status',
  summary: 'shows the Windows hosts of a cluster, their problems, and how to fix them',
  flags,
  argument: {
    name: 'host',
    isList: true,
    help: 'these hosts in full, each by its instance, address, DNS name, Machine or Node',
  },
  details: `Examples:
  wmco status
  wmco status -w
  wmco status win-2 win-5
  wmco status -o wide
  wmco status -w -o json | jq -r 'select(.problem) | .name + " " + .problem.code'

Exit code: 0 every host is Ready, paused or not configured by this operator, 1 some are not or the cluster cannot be
read, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readStatusOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): StatusOptions | undefined {
  const parsed = parseCommandLine(statusLine, words);
  if (parsed === undefined) return undefined;
  const { args, values } = parsed;
  const watch = values.watch === 'true';
  const form = values.output as StatusOptions['form'];
  if (watch && (form === 'yaml' || form === 'name')) throw usage(statusLine, `-w and -o ${form} cannot be combined`);
  return {
    hosts: args,
    watch,
    form,
    hasHeaders: values['no-headers'] !== 'true',
    ...clusterOptions(values, environment),
  };
}

export function clusterOptions(
  { kubeconfig, context, namespace }: Readonly<Record<keyof typeof clusterFlags, string>>,
  environment: Readonly<Record<string, string | undefined>>,
): ClusterOptions {
  return {
    kubeconfig: kubeconfig || undefined,
    context: context || undefined,
    namespace: namespace || environment['WATCH_NAMESPACE'] || defaultNamespace,
  };
}
