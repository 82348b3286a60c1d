import type { InstanceIdentity, InstanceRecord, InstanceToken } from '#contract/windows-instance/resource.ts';

/** As many as a host can have been given while the oldest is still good. */
const maxTokens = 64;

/** The tokens of the record with those just handed out; expired ones are dropped. */
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
 * What a journey has recorded on top of what the status has by now: the end of a certificate is written by the approver meanwhile,
 * and holds as long as the key is the same.
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

/** How long an agent may take from its installation to its first certificate. */
const firstCertificateMs = 30 * 60_000;

/** An installation is not repeated sooner, whatever clocks say. */
const shortestMs = 60_000;

/** When the agent, or cloud-node-manager beside it, is out of credentials; undefined while no agent of ours is installed. */
export function identityEndsMs({ agent, cloudNode }: Pick<InstanceRecord, 'agent' | 'cloudNode'>): number | undefined {
  const ends = [agent, cloudNode].filter(identity => identity !== undefined).map(endMs);
  return agent === undefined ? undefined : Math.min(...ends);
}

function endMs({ certificateEnds, installed }: InstanceIdentity): number {
  const installedMs = Date.parse(installed) || 0;
  const endsMs = Date.parse(certificateEnds ?? '');
  return Number.isNaN(endsMs) ? installedMs + firstCertificateMs : Math.max(endsMs, installedMs + shortestMs);
}
