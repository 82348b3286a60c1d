import { type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { clusterFlags, type ClusterOptions, clusterOptions } from '../../status/options.ts';

export interface UpgradeOptions extends ClusterOptions {
  /** Version of the API server after the upgrade; undefined when only the present state is checked. */
  target: string | undefined;
  form: (typeof forms)[number];
}

const forms = ['text', 'json', 'yaml'] as const;

const flags = {
  to: {
    value: 'version',
    help: 'version of Kubernetes that the cluster is upgraded to, such as v1.38',
    expected: targetExpected,
  },
  output: { short: 'o', value: 'format', default: 'text', values: forms, help: forms.join(', ') },
  ...clusterFlags,
} as const satisfies Flags;

export const checkUpgradeLine: CommandLine<typeof flags> = {
  name: 'wmco check upgrade',
  summary: 'says whether the Windows nodes of a live cluster are ready for an upgrade of the cluster',
  flags,
  details: `It changes nothing, and works with and without an installed operator.

Examples:
  wmco check upgrade
  wmco check upgrade --to v1.38
  wmco check upgrade --to v1.38 -o json

Exit code: 0 go, 1 do not upgrade or the cluster cannot be read, 2 usage error.`,
};

const versionText = /^v?(1\.(?:0|[1-9]\d{0,2})(?:\.\d{1,5})?(?:[-+][0-9A-Za-z.+-]{1,60})?)$/;

/** Undefined when help is requested. */
export function readUpgradeOptions(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): UpgradeOptions | undefined {
  const parsed = parseCommandLine(checkUpgradeLine, words);
  if (parsed === undefined) return undefined;
  const { values } = parsed;
  const version = versionText.exec(values.to)?.[1];
  return {
    target: version === undefined ? undefined : `v${version}`,
    form: values.output as UpgradeOptions['form'],
    ...clusterOptions(values, environment),
  };
}

/** A variable of a script that is not set must not count as a check without a target, nor a version of OpenShift as one of Kubernetes. */
function targetExpected(text: string): string | undefined {
  return versionText.test(text)
    ? undefined
    : 'a version of Kubernetes, such as v1.38 (a release of OpenShift has one, too)';
}
