import { shortLine } from '#base/printable.ts';
import type { NodeView } from '#contract/node.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';

/** A node that is unhealthy for so long after its upgrade goes back. */
export const brokenLimitMs = 60_000;
/** How long a node is watched after it has soaked. */
const watchMs = 3_600_000;

/** What is wrong with a node; undefined if it is healthy. `failure` is the failure that its agent reported last. */
export function troubleOf(
  { name, ready, readyMessage = '' }: NodeView,
  failure: string | undefined,
): string | undefined {
  if (!ready) return shortLine(`Node ${name} is not ready${readyMessage === '' ? '' : `: ${readyMessage}`}`);
  return failure === undefined ? undefined : shortLine(`the agent of Node ${name} reports ${failure}`);
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
  /** For how long the node has been unhealthy; undefined if it is healthy. */
  brokenMs: number | undefined;
  soakMs: number;
  nowMs: number;
}

/** What a watched node needs now. */
export type HealthDecision = { do: 'fail' } | { do: 'end soak' } | { do: 'wait'; ms: number } | { do: 'nothing' };

export function decideHealth({ upgrade, brokenMs, soakMs, nowMs }: HealthFacts): HealthDecision {
  if (!isWatched(upgrade, nowMs)) return { do: 'nothing' };
  const canFail = canGoBack(upgrade);
  if (brokenMs !== undefined) {
    if (canFail && brokenMs >= brokenLimitMs) return { do: 'fail' };
    return { do: 'wait', ms: canFail ? brokenLimitMs - brokenMs : brokenLimitMs };
  }
  if (upgradeState(upgrade) !== 'soaking') return { do: 'nothing' };
  const leftMs = soakMs - elapsedMs(upgrade.ready, nowMs);
  return leftMs <= 0 ? { do: 'end soak' } : { do: 'wait', ms: leftMs };
}

/** The clock can have been set back since; a time that cannot be read is long ago. */
function elapsedMs(since = '', nowMs: number): number {
  const ms = Math.abs(nowMs - Date.parse(since));
  return Number.isNaN(ms) ? Infinity : ms;
}
