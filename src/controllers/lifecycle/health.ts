import { shortLine } from '#base/printable.ts';
import type { NodeView } from '#contract/node.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';

/** A node that is unhealthy for so long after its upgrade goes back. */
export const brokenLimitMs = 60_000;
/** The same for one that sends nothing: somebody may be rebooting the host. */
export const silentLimitMs = 5 * 60_000;
/** How long a node is watched after it has soaked. */
const watchMs = 3_600_000;
const dayMs = 24 * 3_600_000;

/** What is wrong with a node. */
export interface Trouble {
  text: string;
  /** Its kubelet sends nothing. */
  isSilent: boolean;
}

/** Undefined if the node is healthy. `failure` is the failure that its agent reported last. */
export function troubleOf(node: NodeView, failure: string | undefined): Trouble | undefined {
  const { name, ready, isSilent = false, readyMessage = '' } = node;
  const why = readyMessage === '' ? '' : `: ${readyMessage}`;
  const troubles = [
    ...(ready ? [] : [`Node ${name} is not ready${why}`]),
    ...(failure === undefined ? [] : [`the agent of Node ${name} reports ${failure}`]),
  ];
  if (troubles.length === 0) return undefined;
  // An agent that reports failures runs: nobody is rebooting the host, its kubelet is dead.
  return { text: shortLine(troubles.join('; ')), isSilent: !ready && isSilent && failure === undefined };
}

/** Whether the node is watched: while it soaks and for an hour after. */
export function isWatched(upgrade: InstanceUpgrade | undefined, nowMs: number): boolean {
  const state = upgradeState(upgrade);
  if (state === 'soaking') return true;
  return state === 'soaked' && canGoBack(upgrade) && elapsedMs(upgrade?.soaked, nowMs) < watchMs;
}

/** A host that was set up again with the same version has nothing to go back to. */
function canGoBack(upgrade: InstanceUpgrade | undefined): boolean {
  return upgrade !== undefined && upgrade.from !== upgrade.to;
}

export interface HealthFacts {
  upgrade: InstanceUpgrade;
  /** Undefined if the node is healthy. */
  broken: BrokenTime | undefined;
  soakMs: number;
  nowMs: number;
}

/** For how long a node has been unhealthy without interruption. */
export interface BrokenTime {
  /** By whatever cause. */
  totalMs: number;
  /** Since it last was healthy or silent; undefined while it is silent. */
  reportedMs?: number;
}

/** What a watched node needs now. */
export type HealthDecision = { do: 'fail' } | { do: 'end soak' } | { do: 'wait'; ms: number } | { do: 'nothing' };

export function decideHealth({ upgrade, broken, soakMs, nowMs }: HealthFacts): HealthDecision {
  if (!isWatched(upgrade, nowMs)) return { do: 'nothing' };
  // One that cannot go back must not keep the others waiting for ever.
  if (broken !== undefined && canGoBack(upgrade)) {
    const leftMs = brokenLeftMs(broken);
    return leftMs <= 0 ? { do: 'fail' } : { do: 'wait', ms: leftMs };
  }
  if (upgradeState(upgrade) !== 'soaking') return { do: 'nothing' };
  const leftMs = soakMs - elapsedMs(upgrade.ready, nowMs);
  return leftMs <= 0 ? { do: 'end soak' } : { do: 'wait', ms: leftMs };
}

function brokenLeftMs({ totalMs, reportedMs = -Infinity }: BrokenTime): number {
  return Math.min(silentLimitMs - totalMs, brokenLimitMs - reportedMs);
}

/** A clock that was set back ends no soak. A time that cannot be read, or is far in the future, is long ago. */
function elapsedMs(since = '', nowMs: number): number {
  const ms = nowMs - Date.parse(since);
  return ms > -dayMs ? Math.max(0, ms) : Infinity;
}
