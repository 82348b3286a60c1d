import { type CommandLine, type Flags, parseCommandLine } from '#base/command-line.ts';
import { buildText, windowsReleases, windowsVersionOf, windowsVersions } from '#contract/supported-versions.ts';
import type { WindowsVersion } from '#contract/supported-versions.ts';
import { manifestForms } from './manifest-text.ts';
import { clusterFlags } from '../status/options.ts';

export interface RuntimeClassOptions {
  versions: readonly WindowsVersion[];
  form: (typeof manifestForms)[number];
  apply: boolean;
  kubeconfig: string | undefined;
  context: string | undefined;
}

const { kubeconfig, context } = clusterFlags;

const flags = {
  release: {
    value: 'year...',
    isList: true,
    values: windowsReleases,
    help: `release of Windows Server: ${windowsReleases.join(', ')}; default is all`,
  },
  build: { value: 'build...', isList: true, expected: buildExpected, help: 'the same by build, such as 10.0.20348' },
  apply: { help: 'create or change the classes in the cluster instead of printing them' },
  output: { short: 'o', value: 'format', default: 'yaml', values: manifestForms, help: manifestForms.join(', ') },
  kubeconfig,
  context,
} as const satisfies Flags;

export const runtimeClassLine: CommandLine<typeof flags> = {
  name: 'wmco runtimeclass',
  summary: 'prints a RuntimeClass for each build of Windows',
  flags,
  details: `A pod with such a class runs on a Windows node of this build, and tolerates the taint of Windows nodes.

Examples:
  wmco runtimeclass
  wmco runtimeclass --release 2022 2025
  wmco runtimeclass --apply

Exit code: 0 success, 1 the cluster refuses the classes, 2 usage error.`,
};

/** Undefined when help is requested. */
export function readRuntimeClassOptions(words: readonly string[]): RuntimeClassOptions | undefined {
  const parsed = parseCommandLine(runtimeClassLine, words);
  if (parsed === undefined) return undefined;
  const { values, given } = parsed;
  const builds = (given.get('build') ?? []).map(build => versionOfBuild(build)?.release);
  const wanted = [...(given.get('release') ?? []), ...builds];
  return {
    versions: windowsVersions.filter(({ release }) => wanted.length === 0 || wanted.includes(release)),
    form: values.output as RuntimeClassOptions['form'],
    apply: values.apply === 'true',
    kubeconfig: values.kubeconfig || undefined,
    context: values.context || undefined,
  };
}

/** `20348`, `10.0.20348` or a full version. */
function versionOfBuild(text: string): WindowsVersion | undefined {
  return windowsVersionOf(text.includes('.') ? text : `10.0.${text}`);
}

function buildExpected(text: string): string | undefined {
  if (versionOfBuild(text) !== undefined) return undefined;
  const known = windowsVersions.map(version => `${buildText(version)} (${version.release})`);
  return `a build that hosts can run: ${known.join(', ')}`;
}
