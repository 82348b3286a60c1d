import { expect, test } from 'vitest';
import type { Deployment, Pod } from '#kube/resources.ts';
import { rolloutOf } from './rollout.ts';

const metadata = { name: 'operator', namespace: 'ns', generation: 2 };
const available = { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
const deployment = (status: NonNullable<Deployment['status']>, replicas = 1): Deployment => ({
  metadata,
  spec: { replicas },
  status,
});
const pod = (status: NonNullable<Pod['status']>, more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name: 'pod-1', namespace: 'ns', ...more },
  status,
});

const states: [about: string, deployment: Deployment | undefined, isDone: boolean, text: RegExp][] = [
  ['is missing', undefined, false, /does not exist/],
  ['was not seen in its new form', deployment({ ...available, observedGeneration: 1 }), false, /not seen/],
  [
    'has an old pod',
    deployment({ ...available, updatedReplicas: 0 }),
    false,
    /1 of 1 pod available, 0 of this version/,
  ],
  ['has an old pod beside the new one', deployment({ ...available, replicas: 2 }), false, /1 of 1 pod/],
  ['has one pod of two', deployment(available, 2), false, /1 of 2 pods/],
  ['is available', deployment(available), true, /1 of 1 pod available/],
];
for (const [about, object, isDone, text] of states) {
  test(`a Deployment that ${about} is ${isDone ? '' : 'not '}done`, () => {
    const rollout = rolloutOf(object, []);
    expect([rollout.isDone, rollout.text]).toEqual([isDone, expect.stringMatching(text)]);
  });
}

const waiting = (reason: string, message = '') => ({
  containerStatuses: [{ state: { waiting: { reason, message } } }],
});
const ended = (message: string) => ({
  containerStatuses: [{ restartCount: 1, lastState: { terminated: { exitCode: 2, message } } }],
});
const unscheduled = { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' };
const problems: [about: string, pods: Pod[], text: RegExp | undefined, remedy?: RegExp][] = [
  ['a pod without a node', [pod({ conditions: [unscheduled] })], /pending: 0\/3 nodes/, /control-plane/],
  [
    'an image that cannot be pulled',
    [pod(waiting('ErrImagePull', 'no such image'))],
    /ErrImagePull: no such/,
    /--image/,
  ],
  ['a bad image name', [pod(waiting('InvalidImageName'))], /no image: InvalidImageName$/],
  ['a missing Secret', [pod(waiting('CreateContainerConfigError', 'no Secret'))], /does not start: .*no Secret/],
  ['a container that is being created', [pod(waiting('ContainerCreating'))], undefined],
  ['the last line of a log', [pod(ended('one\ntwo\n'))], /exit code 2, 1 restart: two$/, /kubectl logs -n ns pod-1/],
  ['a log with a token', [pod(ended('token: abc'))], /: token <redacted>$/],
  ['a pod that is being deleted', [pod(ended('x'), { deletionTimestamp: 'now' })], undefined],
  ['a pod that runs', [pod({ containerStatuses: [{ ready: true }] })], undefined],
];
for (const [about, pods, text, remedy = /./] of problems) {
  test(`${about} is ${text === undefined ? 'no' : 'a'} reason`, () => {
    const { problem } = rolloutOf(deployment({ observedGeneration: 2 }), pods);
    if (text === undefined) expect(problem).toBeUndefined();
    else expect([problem?.text, problem?.remedy]).toEqual([expect.stringMatching(text), expect.stringMatching(remedy)]);
  });
}

const conditions: [type: string, status: string, reason: string, text: RegExp][] = [
  ['ReplicaFailure', 'True', 'FailedCreate', /no pod can be created: exceeded quota/],
  ['Progressing', 'False', 'ProgressDeadlineExceeded', /no progress: exceeded quota/],
];
for (const [type, status, reason, text] of conditions) {
  test(`the condition ${type} is a reason`, () => {
    const condition = { type, status, reason, message: 'exceeded quota' };
    expect(rolloutOf(deployment({ observedGeneration: 2, conditions: [condition] }), []).problem?.text).toMatch(text);
  });
}
