import { timestamp } from '#base/clock.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isVersionText } from '#contract/version.ts';
import { isRetryRequested, upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { retryText } from '#node/lifecycle/upgrade/choices-text.ts';
import type { ChangeFacts } from './decide-upgrade.ts';
import { isWatched } from './health.ts';

const dayMs = 24 * 3_600_000;

/**
 * Why a host is not set up again now. A Node writes its own annotations: one that claims another version than the recorded one is
 * believed once in a day, or it could take the budget for ever; and not before its last upgrade has proved itself, because a set-up
 * takes away the way back. A retry of an administrator counts.
 */
export function claimLimit(facts: ChangeFacts): string | undefined {
  const { instance, version, nowMs } = facts;
  const { version: recorded, upgrade } = instance.status ?? {};
  const isSetUp =
    recorded === version && upgrade?.to === version && ['soaking', 'soaked'].includes(upgradeState(upgrade));
  if (!isSetUp || isRetryRequested(instance)) return undefined;
  const repeatedMs = Date.parse(upgrade.repeated ?? '');
  // A time far in the future, from a clock that was wrong, does not count.
  if (Math.abs(nowMs - repeatedMs) < dayMs) {
    const [at, next] = [repeatedMs, repeatedMs + dayMs].map(timestamp);
    return limitText(
      facts,
      `the host was set up again with ${version} at ${at} already; this is done once in 24 h, next at ${next}`,
    );
  }
  if (upgrade.from === version || !isWatched(upgrade, nowMs)) return undefined;
  return limitText(facts, `the host is not set up again before an hour has passed since it has soaked with ${version}`);
}

function limitText({ instance, node }: ChangeFacts, why: string): string {
  const { name = '', namespace = '' } = instance.metadata;
  const claimed = node?.annotations[nodeAnnotation.version] ?? '';
  return (
    `its Node claims ${isVersionText(claimed) ? `version ${claimed}` : 'another version'}, but ${why}. Find out who changes ` +
    `the annotation ${nodeAnnotation.version}: \`kubectl get node ${node?.name} -o yaml --show-managed-fields\`. ` +
    retryText({ name, namespace })
  );
}
