import { backoffMs } from '#base/waiting/backoff.ts';
import { type Clock, timestamp } from '#base/clock.ts';
import { isConflict, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type CertificateSigningRequest, certificateSigningRequests } from '#kube/resources.ts';
import type { ApprovedCondition } from '../decide.ts';

export interface ApprovalDeps {
  client: Pick<Client, 'get' | 'replace'>;
  clock: Clock;
  signal: AbortSignal;
  random: () => number;
}

const attempts = 5;
const retryLimits = { firstMs: 10, maxMs: 10_000, factor: 5 };
const jitter = 0.1;

/** True when it approved the request; false when another client decided about it first, or it is gone. */
export async function approve(
  { metadata }: CertificateSigningRequest,
  condition: ApprovedCondition,
  { client, clock, signal, random }: ApprovalDeps,
): Promise<boolean> {
  const { name = '', uid } = metadata;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const current = await client.get(certificateSigningRequests, name, { signal });
      // A new object of the same name is another request.
      if (current.metadata.uid !== uid || isDecided(current)) return false;
      const approved = withCondition(current, condition, timestamp(clock.now()));
      await client.replace(certificateSigningRequests, approved, { subresource: 'approval', signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
    await clock.sleep(backoffMs(retryLimits, attempt) * (1 + jitter * random()), signal);
  }
}

export function isDecided({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');
}

function withCondition(
  request: CertificateSigningRequest,
  condition: ApprovedCondition,
  time: string,
): CertificateSigningRequest {
  const { conditions = [], ...rest } = request.status ?? {};
  const dated = { ...condition, lastUpdateTime: time, lastTransitionTime: time };
  return { ...request, status: { ...rest, conditions: [...conditions, dated] } };
}
