import type { Pod } from '../resources.ts';

/** What a drain does with a pod: takes it away, waits until it is gone, or leaves it. */
export type PodAction = 'evict' | 'wait' | 'leave';

export type PodClass = 'mirror' | 'daemon set' | 'terminating' | 'finished' | 'unmanaged' | 'local data' | 'managed';

interface Rule {
  is: PodClass;
  action: PodAction;
  why: string;
  fits: (pod: Pod) => boolean;
}

/** The first that fits decides. */
export const podRules: readonly Rule[] = [
  {
    is: 'mirror',
    action: 'leave',
    why: 'The kubelet runs it from a file; what the API server shows is only its picture.',
    fits: ({ metadata }) => Object.hasOwn(metadata.annotations ?? {}, 'kubernetes.io/config.mirror'),
  },
  {
    is: 'daemon set',
    action: 'leave',
    why: 'Its DaemonSet would put it back at once, cordon or not.',
    fits: pod => controllerOf(pod)?.kind === 'DaemonSet' && !isFinished(pod),
  },
  {
    is: 'terminating',
    action: 'wait',
    why: 'Somebody has deleted it already; its grace period runs.',
    fits: ({ metadata }) => metadata.deletionTimestamp !== undefined,
  },
  {
    is: 'finished',
    action: 'evict',
    why: 'It runs no more; no budget protects it.',
    fits: isFinished,
  },
  {
    is: 'unmanaged',
    action: 'evict',
    why: 'Nothing will make it anew; the administrator chose so by asking for this drain.',
    fits: pod => controllerOf(pod) === undefined,
  },
  {
    is: 'local data',
    action: 'evict',
    why: 'The content of its emptyDir volumes goes with it.',
    fits: ({ spec }) => spec?.volumes?.some(volume => Object.hasOwn(volume, 'emptyDir')) ?? false,
  },
  { is: 'managed', action: 'evict', why: 'Its controller makes it anew elsewhere.', fits: () => true },
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
