import type { NewCondition } from '#base/condition.ts';
import { AppError, messageOf } from '#base/errors.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { ports } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { LifecycleDeps } from '../deps.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCluster } from './remedies.ts';

/** Whether the kubelet of a host accepted a connection. */
export type KubeletReach = { ok: true; address: string } | { ok: false; problem: AppError };

const dialMs = 5000;

export const reachKubelet: Step<ConfigureJourney> = {
  name: 'reach kubelet',
  description: 'opens a TCP connection to the kubelet; a failure is reported and does not fail the join',
  usualMs: 5000,
  limitMs: 30_000,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { record, ipv4, deps, joinedNode } = journey;
    const addresses = [...(record.known.host?.addresses ?? []), ...(ipv4 === undefined ? [] : [ipv4])];
    journey.kubelet = await probeKubelet(joinedNode.name, addresses, deps, signal);
  },
};

/** The addresses are those of the record: what a Node reports about itself could be the address of another machine. */
export async function probeKubelet(
  node: string,
  known: readonly string[],
  { dialTcp, clock, log }: Pick<LifecycleDeps, 'dialTcp' | 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<KubeletReach> {
  const addresses = [...new Set(known)];
  const error = () => new Error(`no answer within ${dialMs / 1000} s`);
  const over = new AbortController();
  const waiting = { clock, ms: dialMs, error, signal: AbortSignal.any([signal, over.signal]) };
  const attempts = addresses.map(async address => {
    await withDeadline(waiting, within => dialTcp(address, ports.kubelet, within));
    return address;
  });
  try {
    return { ok: true, address: await Promise.any(attempts) };
  } catch (failure) {
    signal.throwIfAborted();
    const problem = unreachable(node, addresses, failure);
    log.warn('Kubelet cannot be reached', { error: problem });
    return { ok: false, problem };
  } finally {
    over.abort();
  }
}

function unreachable(node: string, addresses: readonly string[], failure: unknown): AppError {
  const list = addresses.map(address => `${address}:${ports.kubelet}`).join(', ') || 'any address';
  const [first = failure] = failure instanceof AggregateError ? (failure.errors as unknown[]) : [];
  return new AppError(
    'KUBELET_UNREACHABLE',
    `Node ${node}: the operator cannot connect to the kubelet at ${list} (${messageOf(first)})`,
    {
      remedy:
        `Run \`New-NetFirewallRule -DisplayName ContainerLogsPort -Direction Inbound -Protocol TCP -LocalPort ${ports.kubelet} ` +
        '-Action Allow` in PowerShell on the host, and allow the port in the security groups of the cloud. ' +
        'Until then kubectl logs and kubectl exec fail for pods on this Node.',
    },
  );
}

export function kubeletCondition(reach: KubeletReach): NewCondition {
  const type = instanceCondition.kubeletReachable;
  if (reach.ok) {
    const message = `The kubelet accepts connections at ${reach.address}:${ports.kubelet}.`;
    return { type, status: 'True', reason: 'Reachable', message };
  }
  const { code, message, remedy } = reach.problem;
  return { type, status: 'False', reason: code, message: `${message}. ${remedy}` };
}
