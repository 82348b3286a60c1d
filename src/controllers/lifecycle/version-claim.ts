import { timestamp } from '#base/clock.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isVersionText } from '#contract/version.ts';
import { isRetryRequested, upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { retryText } from '#node/lifecycle/upgrade/choices-text.ts';
import type { ChangeFacts } from './decide-upgrade.ts';

const dayMs = 24 * 3_600_000;

/**
 * Why a host is not set up again now. A Node writes its own annotations, and could take the budget for ever: one that claims another
 * version than the recorded one is believed once in a day. A retry of an administrator counts.
 */
export function claimLimit(facts: ChangeFacts): string | undefined {
  const { instance, version, nowMs } = facts;
  const { version: recorded, upgrade } = instance.status ?? {};
  const isSetUp =
    recorded === version && upgrade?.to === version && ['soaking', 'soaked'].includes(upgradeState(upgrade));
  const repeatedMs = Date.parse(upgrade?.repeated ?? '');
  // A time far in the future, from a clock that was wrong, does not count.
  const isRecent = Math.abs(nowMs - repeatedMs) < dayMs;
  return isSetUp && isRecent && !isRetryRequested(instance) ? limitText(facts, repeatedMs) : undefined;
}

function limitText({ instance, node, version }: ChangeFacts, repeatedMs: number): string {
  const { name = '', namespace = '' } = instance.metadata;
  const claimed = node?.annotations[nodeAnnotation.version] ?? '';
  const [at, next] = [repeatedMs, repeatedMs + dayMs].map(timestamp);
  return (
    `its Node claims ${isVersionText(claimed) ? `version ${claimed}` : 'another version'}, but the host was set up again ` +
    `with ${version} at ${at} already; this is done once in 24 h, next at ${next}. Find out who changes the annotation ` +
    `${nodeAnnotation.version}: \`kubectl get node ${node?.name} -o yaml --show-managed-fields\`. ` +
    retryText({ name, namespace })
  );
}
