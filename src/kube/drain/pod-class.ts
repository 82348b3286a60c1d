import type { Pod } from '../resources.ts';

/** What a drain does with a pod: evict it, wait until it is gone, or leave it. */
export type PodAction = 'evict' | 'wait' | 'leave';

export type PodClass = 'mirror' | 'daemon set' | 'terminating' | 'finished' | 'unmanaged' | 'local data' | 'managed';

interface Rule {
  is: PodClass;
  action: PodAction;
  why: string;
  fits: (pod: Pod) => boolean;
}

/** The first matching rule decides. */
export const podRules: readonly Rule[] = [
  {
    is: 'mirror',
    action: 'leave',
    why: 'The kubelet runs it from a file; the API server only mirrors it.',
    fits: ({ metadata }) => Object.hasOwn(metadata.annotations ?? {}, 'kubernetes.io/config.mirror'),
  },
  {
    is: 'daemon set',
    action: 'leave',
    why: 'Its DaemonSet would recreate it at once, even on a cordoned Node.',
    fits: pod => controllerOf(pod)?.kind === 'DaemonSet' && !isFinished(pod),
  },
  {
    is: 'terminating',
    action: 'wait',
    why: 'It is being deleted already; its grace period runs.',
    fits: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  },
  {
    is: 'finished',
    action: 'evict',
    why: 'It has finished; no budget protects it.',
    fits: isFinished,
  },
  {
    is: 'unmanaged',
    action: 'evict',
    why: 'No controller recreates it; whoever drains the Node accepts that.',
    fits: pod => controllerOf(pod) === undefined,
  },
  {
    is: 'local data',
    action: 'evict',
    why: 'The content of its emptyDir volumes is lost.',
    fits: ({ spec }) => spec?.volumes?.some(volume => Object.hasOwn(volume, 'emptyDir')) ?? false,
  },
  { is: 'managed', action: 'evict', why: 'Its controller recreates it on another Node.', fits: () => true },
];

export function classify(pod: Pod): { is: PodClass; action: PodAction } {
  const rule = podRules.find(({ fits }) => fits(pod));
  return rule === undefined ? { is: 'managed', action: 'evict' } : { is: rule.is, action: rule.action };
}

function controllerOf({ metadata }: Pod): { kind: string } | undefined {
  return metadata.ownerReferences?.find(owner => owner.controller === true);
}

function isFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
