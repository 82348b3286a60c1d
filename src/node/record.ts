import type { InstanceIdentity, InstanceRecord, InstanceToken } from '#contract/windows-instance/resource.ts';

/** More than a host can get before the oldest expires. */
const maxTokens = 64;

/** The recorded tokens and new ones, without expired ones. */
export function addTokens(
  known: readonly InstanceToken[] = [],
  added: readonly InstanceToken[],
  nowMs: number,
): InstanceToken[] {
  const isNew = (id: string) => added.some(token => token.id === id);
  const kept = known.filter(({ id, expires }) => !isNew(id) && !(Date.parse(expires) <= nowMs));
  return [...kept, ...added].slice(-maxTokens);
}

/**
 * Merges the record of a journey into the current status: the approver may have written the end of a certificate at the same time,
 * which stays as long as the key is the same.
 */
export function mergeRecord(before: InstanceRecord, change: InstanceRecord): InstanceRecord {
  return {
    ...change,
    ...(change.agent && { agent: mergeIdentity(before.agent, change.agent) }),
    ...(change.cloudNode && { cloudNode: mergeIdentity(before.cloudNode, change.cloudNode) }),
  };
}

function mergeIdentity(before: InstanceIdentity | undefined, change: InstanceIdentity): InstanceIdentity {
  return before?.keyHash === change.keyHash ? { ...before, ...change } : change;
}

/** From the installation of an agent to its first certificate. */
const firstCertificateMs = 30 * 60_000;

/** Minimum time between installations, even with wrong clocks. */
const shortestMs = 60_000;

/** When the credentials of the agent or of cloud-node-manager expire; undefined while no agent is recorded. */
export function identityEndsMs({ agent, cloudNode }: Pick<InstanceRecord, 'agent' | 'cloudNode'>): number | undefined {
  const ends = [agent, cloudNode].filter(identity => identity !== undefined).map(endMs);
  return agent === undefined ? undefined : Math.min(...ends);
}

function endMs({ certificateEnds, installed }: InstanceIdentity): number {
  const installedMs = Date.parse(installed) || 0;
  const endsMs = Date.parse(certificateEnds ?? '');
  return Number.isNaN(endsMs) ? installedMs + firstCertificateMs : Math.max(endsMs, installedMs + shortestMs);
}
