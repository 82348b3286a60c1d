import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Client } from '#kube/client.ts';
import { nodes } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { decide, type Decision, type LifecycleFacts } from '../decide.ts';

/** A Node that is in service is removed only with a grant; without one the decision is made again. */
export async function decideWithinBudget(
  facts: LifecycleFacts,
  grants: Pick<Grants, 'take'>,
  signal: AbortSignal,
): Promise<Decision> {
  const { instance, node } = facts;
  const next = decide(facts);
  if (next.do !== 'remove' || node?.ready !== true) return next;
  const answer = await grants.take(instance, 'remove', signal);
  return answer.isGranted ? next : decide({ ...facts, gates: { remove: answer.why } });
}

/** For a removal that failed: a host that does not answer, and whose Node is still in service, keeps no others waiting. */
export async function endUnusedGrant(
  instance: WindowsInstance,
  { client, grants }: { client: Pick<Client, 'find'>; grants: Pick<Grants, 'end'> },
  signal: AbortSignal,
): Promise<void> {
  const name = boundNode(instance);
  // The cache may not know yet that the Node was cordoned.
  const node = name === undefined ? undefined : await client.find(nodes, name, { signal });
  if (node?.spec?.unschedulable !== true) await grants.end(instance, signal);
}
