import { type CommandLine, type Flags, notEmpty, parseCommandLine, usage } from '#base/command-line.ts';
import { shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import type { PlatformKind } from '#install/namespace.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../status/options.ts';

export interface InstallOptions extends ClusterOptions {
  /** `plan`: shows what would change. */
  act: 'plan' | 'print' | 'apply';
  /** Undefined when the cluster decides. */
  platform: PlatformKind | undefined;
  image: string | undefined;
  replicas: number | undefined;
  payloadKey: string | undefined;
  forceConflicts: boolean;
  wait: boolean;
  timeoutMs: number;
}

const platforms = ['openshift', 'kubernetes'] as const;

const flags = {
  'dry-run': { help: 'print the objects as YAML for kubectl' },
  apply: { help: 'create and change the objects, and wait until the operator runs' },
  platform: {
    value: 'name',
    values: platforms,
    help: 'default is what the cluster is; with --dry-run no cluster is needed',
  },
  image: {
    value: 'reference',
    help: 'image of the operator; default is that of this version',
    expected: imageExpected,
  },
  'payload-key': {
    value: 'file',
    help: 'public key of your own payload, for the Secret windows-payload-key',
    expected: notEmpty('the path of a key'),
  },
  replicas: { value: 'number', help: 'pods of the operator; default is what runs, or 1', expected: replicasExpected },
  'force-conflicts': { help: 'overwrite fields that somebody else has set' },
  'no-wait': { help: 'do not wait for the operator' },
  timeout: { value: 'duration', default: '5m', help: 'how long to wait for the operator', expected: timeoutExpected },
  ...clusterFlags,
} as const satisfies Flags;

export const installLine: CommandLine<typeof flags> = {
  name: 'wmco install',
  summary: 'installs or upgrades the operator in a cluster without OLM',
  flags,
  details: `Without --dry-run and --apply it shows what it would create and change; the API server checks every object.
It never deletes anything. Run it again to upgrade, with a newer wmco.

Examples:
  wmco install
  wmco install --apply
  wmco install --apply --image registry.example.com/wmco/operator:v11.0.0
  wmco install --dry-run --platform kubernetes > operator.yaml

Exit code: 0 success, 1 refused, failed or not running in time, 2 usage error.`,
};

/** Namespaces of the cluster itself; the operator needs a label that allows privileged pods in its own. */
const ofCluster = /^(default|kube-.*)$/;

/** Undefined when help is requested. */
export function readInstallOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): InstallOptions | undefined {
  const parsed = parseCommandLine(installLine, words);
  if (parsed === undefined) return undefined;
  const { values, given } = parsed;
  const [prints, applies] = [values['dry-run'] === 'true', values.apply === 'true'];
  if (prints && applies) throw usage(installLine, '--dry-run and --apply cannot be combined');
  const [unused] = ['force-conflicts', 'no-wait', 'timeout'].filter(name => prints && given.has(name));
  if (unused !== undefined) throw usage(installLine, `--dry-run and --${unused} cannot be combined`);
  const cluster = clusterOptions(values, environment);
  if (ofCluster.test(cluster.namespace))
    throw usage(
      installLine,
      `--namespace is ${shown(cluster.namespace)}: there, pods of others could become privileged; use one for the operator`,
    );
  return {
    act: prints ? 'print' : applies ? 'apply' : 'plan',
    platform: (values.platform || undefined) as PlatformKind | undefined,
    image: values.image || undefined,
    replicas: values.replicas === '' ? undefined : Number(values.replicas),
    payloadKey: values['payload-key'] || undefined,
    forceConflicts: values['force-conflicts'] === 'true',
    wait: values['no-wait'] !== 'true',
    timeoutMs: parseGoDuration(values.timeout) ?? 0,
    ...cluster,
  };
}

function imageExpected(text: string): string | undefined {
  return /^[\w.:/@-]+$/.test(text) ? undefined : 'an image reference, such as registry.example.com/operator:v11.0.0';
}

function replicasExpected(text: string): string | undefined {
  return /^[1-5]$/.test(text) ? undefined : 'a number from 1 to 5';
}

function timeoutExpected(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) >= 1000 ? undefined : 'a duration of at least one second, such as 90s or 10m';
}
