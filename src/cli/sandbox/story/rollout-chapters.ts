import { Fields, jsonIn } from '#base/fields.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { configMaps } from '#kube/resources.ts';
import { oneLine, safe } from '../../safe-text.ts';
import type { WatchedCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import type { SandboxRelease } from '../running.ts';
import { say, showUntil, storyError, type StoryDeps } from './telling.ts';
import type { UpgradeLines } from './upgrade-lines.ts';

/** Shortens the soak, which would take minutes. */
export async function showSettings(data: Record<string, string>, deps: StoryDeps): Promise<void> {
  const { client, sandbox, signal } = deps;
  const { namespace } = sandbox;
  const name = configMapName.rollout;
  const literals = Object.entries(data).map(([key, value]) => `--from-literal=${key}=${value}`);
  say(deps, '', `2. How fast new versions are rolled out`);
  say(deps, `   kubectl create configmap ${name} -n ${namespace} ${literals.join(' ')}`);
  await client.create(configMaps, { metadata: { name, namespace }, data }, { signal });
}

/** Starts the operator of another version, and shows what hosts do until it is so. */
export async function showRollout(
  release: SandboxRelease,
  until: { what: string; isSo: (hosts: readonly WindowsInstance[]) => boolean },
  { cluster, lines }: { cluster: WatchedCluster; lines: UpgradeLines },
  deps: StoryDeps,
): Promise<void> {
  await deps.sandbox.replaceOperator(release);
  await showUpgrades(until, { cluster, lines }, deps);
}

/** Shows what hosts do until it is so. */
export async function showUpgrades(
  until: { what: string; isSo: (hosts: readonly WindowsInstance[]) => boolean },
  { cluster, lines }: { cluster: WatchedCluster; lines: UpgradeLines },
  deps: StoryDeps,
): Promise<void> {
  const { terminal } = deps;
  const isDone = () => {
    const view = cluster.view();
    for (const { host, text } of lines.next(view, terminal.clock.now()))
      terminal.out(safe`   ${oneLine(host)}  ${oneLine(text)}\n`);
    return until.isSo(view.instances);
  };
  await showUntil(until.what, isDone, cluster, deps);
}

/** Whether a host runs the version and has soaked. */
export function isUpgraded({ status }: WindowsInstance, version: string): boolean {
  return status?.version === version && status.upgrade?.to === version && status.upgrade.soaked !== undefined;
}

/** Versions of the files in place, and of those that the host keeps for a roll-back. */
async function versionsOn(host: string, { sandbox }: StoryDeps): Promise<{ runs: string; keeps: string }> {
  const version = async (path: string) => {
    const text = await sandbox.readFile(host, path);
    return text === undefined ? '' : (new Fields(jsonIn(text), `${path} of ${host}`).string('version') ?? '');
  };
  return { runs: await version(file.stagedRecord), keeps: await version(file.previousSet) };
}

/** Fails unless the host runs this version. */
export async function showVersions(
  hosts: readonly string[],
  wanted: string,
  lines: UpgradeLines,
  deps: StoryDeps,
): Promise<void> {
  for (const host of hosts) {
    const { runs, keeps } = await versionsOn(host, deps);
    const kept = keeps === '' ? '' : `, keeps ${keeps} to go back`;
    const outMs = lines.outMs.get(host);
    const out = outMs === undefined ? 'was never out of service' : `was out of service for ${durationText(outMs)}`;
    say(deps, `   ${host} runs ${runs}${kept}; its Node ${out}`);
    if (runs !== wanted) throw storyError(`${host} has the files of ${runs} in place, not those of ${wanted}`);
  }
}

/** The same version with a higher last number: `11.0.0-abc` and 1 give `11.0.1-abc`. */
export function laterVersion(version: string, by: number): string {
  const [, before = '', last = '0'] = /^(\d+\.\d+\.)(\d+)/.exec(version) ?? [];
  const rest = version.slice(before.length + last.length);
  return before === '' ? `${version}.${by}` : `${before}${Number(last) + by}${rest}`;
}
