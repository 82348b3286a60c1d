import { findCondition } from '#base/condition.ts';
import { shortLine } from '#base/printable.ts';
import { withoutSecrets } from '#base/without-secrets.ts';
import type { ContainerStatus, Deployment, Pod } from '#kube/resources.ts';
import { countText } from '../status/view/amounts.ts';

/** How far a Deployment is, and what keeps it from being available. */
export interface Rollout {
  isDone: boolean;
  text: string;
  /** Not set while it only needs time. */
  problem?: { text: string; remedy: string };
}

const noPods = { replicas: 0, updatedReplicas: 0, availableReplicas: 0 };

/** As `kubectl rollout status` decides. */
export function rolloutOf(deployment: Deployment | undefined, pods: readonly Pod[]): Rollout {
  if (deployment === undefined) return { isDone: false, text: 'the Deployment does not exist' };
  const wanted = deployment.spec?.replicas ?? 1;
  const { observedGeneration, ...counts } = deployment.status ?? {};
  const { replicas, updatedReplicas, availableReplicas } = { ...noPods, ...counts };
  const isSeen = (observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
  const isDone = isSeen && updatedReplicas >= wanted && replicas <= updatedReplicas && availableReplicas >= wanted;
  const text = isSeen
    ? `${availableReplicas} of ${countText(wanted, 'pod')} available, ${updatedReplicas} of this version`
    : 'the cluster has not seen the Deployment yet';
  const problem = isDone ? undefined : (podProblem(pods) ?? deploymentProblem(deployment));
  return { isDone, text, ...(problem && { problem }) };
}

type Problem = NonNullable<Rollout['problem']>;

function podProblem(pods: readonly Pod[]): Problem | undefined {
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp !== undefined) continue;
    const problem = scheduleProblem(pod) ?? containerProblem(pod);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function scheduleProblem({ metadata, status }: Pod): Problem | undefined {
  const scheduled = findCondition(status?.conditions, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  return {
    text: `pod ${metadata.name} is pending: ${shortLine(scheduled.message ?? scheduled.reason ?? '', 300)}`,
    remedy:
      'The pod needs a control-plane node (label node-role.kubernetes.io/control-plane) for itself, with ports 9182 and 9183 free.',
  };
}

const pullReasons: readonly string[] = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];

function containerProblem({ metadata, status }: Pod): Problem | undefined {
  const [container] = (status?.containerStatuses ?? []).filter(({ ready }) => ready !== true);
  if (container === undefined) return undefined;
  const { reason = '', message = '' } = container.state?.waiting ?? {};
  const where = `pod ${metadata.name}`;
  if (pullReasons.includes(reason)) {
    return {
      text: `${where} has no image: ${reason}${colon(message)}`,
      remedy: 'Set --image to an image that the control-plane nodes can pull.',
    };
  }
  const end = lastEnd(container);
  if (end !== undefined) return endProblem(metadata, container.restartCount ?? 0, end);
  if (['', 'ContainerCreating', 'PodInitializing'].includes(reason)) return undefined;
  return { text: `${where} does not start: ${reason}${colon(message)}`, remedy: `Run ${describe(metadata)}.` };
}

type End = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

function endProblem({ name, namespace }: Pod['metadata'], restarts: number, end: End): Problem {
  const { exitCode = '?', message, reason = '' } = end;
  const times = countText(restarts, 'restart');
  return {
    text: `pod ${name} ends with exit code ${exitCode}, ${times}${colon(lastLine(message ?? reason))}`,
    remedy: `Fix what its log reports: \`kubectl logs -n ${namespace} ${name} --previous\`.`,
  };
}

function lastEnd({ state, lastState }: ContainerStatus): End | undefined {
  return state?.terminated ?? lastState?.terminated;
}

/** A log may contain anything. */
function lastLine(text: string): string {
  return withoutSecrets(text.trimEnd().split('\n').at(-1) ?? '');
}

function colon(text: string): string {
  return text === '' ? '' : `: ${shortLine(text, 300)}`;
}

function deploymentProblem({ metadata, status }: Deployment): Problem | undefined {
  const failure = findCondition(status?.conditions, 'ReplicaFailure');
  if (failure?.status === 'True')
    return { text: `no pod can be created${colon(failure.message ?? '')}`, remedy: 'Fix what the message names.' };
  const progress = findCondition(status?.conditions, 'Progressing');
  if (progress?.reason !== 'ProgressDeadlineExceeded') return undefined;
  return { text: `it makes no progress${colon(progress.message ?? '')}`, remedy: `Run ${describe(metadata)}.` };
}

function describe({ namespace }: { namespace?: string }): string {
  return `\`kubectl describe pods -n ${namespace}\``;
}
