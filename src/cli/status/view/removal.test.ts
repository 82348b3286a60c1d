import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import {
  at,
  condition,
  failure,
  instanceOf,
  nodeOf,
  statuses,
  step,
  viewOf,
} from '../../../../test/kit/status-views.ts';
import { hostOfInstance } from './instance-host.ts';
import type { HostView } from './host-view.ts';

const requested = '2026-07-01T12:00:00Z';
const journey = { name: 'remove', cause: 'its entry was deleted', started: at(0) } as const;
const removing: WindowsInstanceStatus = { phase: 'Removing', step: 'drain', journey, timeline: [step('drain', 0)] };
const failed: WindowsInstanceStatus = {
  phase: 'Failed',
  step: 'connect',
  journey,
  nextAttempt: at(30),
  timeline: [step('connect', 0, undefined, { attempts: 2, lastError: failure })],
};

const rejected = condition('Accepted', 'False', 'INSTANCE_ADDRESS_INVALID');
const waiting = condition('Ready', 'True', 'WaitsForBudget', 'win-1 holds the budget');
const forced = { [instanceAnnotation.forceRemoval]: 'true' };

interface Case {
  status: WindowsInstanceStatus | undefined;
  annotations?: Record<string, string>;
  paused?: true;
  want: Partial<HostView>;
}

const cases: Record<string, Case> = {
  'before the operator starts it': {
    status: structuredClone(statuses.ready),
    want: { phase: 'Removing', tone: 'busy', step: undefined, note: 'removal requested; waiting for the operator' },
  },
  'with the failure of a join before': {
    status: structuredClone(statuses.failed),
    want: { phase: 'Removing', tone: 'busy', problem: undefined, step: undefined },
  },
  'while it runs': {
    status: removing,
    want: {
      phase: 'Removing',
      tone: 'busy',
      step: 'drain',
      note: undefined,
      removal: { requested, isForced: false, cause: 'its entry was deleted' },
    },
  },
  'of a host that is not accepted': {
    status: { ...removing, conditions: [rejected] },
    want: { phase: 'Removing', tone: 'busy', problem: undefined },
  },
  'while it waits for the budget': {
    status: { phase: 'Ready', node: 'win-1', conditions: [waiting] },
    want: { phase: 'Removing', tone: 'busy', note: 'win-1 holds the budget' },
  },
  'that failed': {
    status: failed,
    want: {
      phase: 'Failed',
      tone: 'bad',
      attempts: 2,
      problem: {
        ...failure,
        remedy: 'Put the key there. To remove it without its host, run `wmco remove 10.0.0.1 --force`.',
      },
    },
  },
  'that failed before it reached a step': {
    status: { phase: 'Failed', journey, conditions: [condition('Ready', 'False', 'API_REFUSED', 'no. Retry.')] },
    want: {
      phase: 'Failed',
      problem: { code: 'API_REFUSED', message: 'no. Retry.', remedy: expect.any(String) as string },
    },
  },
  'that is retried': {
    status: { ...failed, phase: 'Removing' },
    want: { phase: 'Retrying', tone: 'bad' },
  },
  'by force': {
    status: failed,
    annotations: forced,
    want: { removal: { requested, isForced: true, cause: 'its entry was deleted' }, problem: failure },
  },
  'of a paused host': {
    status: structuredClone(statuses.paused),
    paused: true,
    want: { phase: 'Paused', tone: 'idle', note: 'spec.paused is true; the removal waits' },
  },
};
for (const [name, { status, annotations = {}, paused, want }] of Object.entries(cases)) {
  test(`shows a removal ${name}`, () => {
    const instance: WindowsInstance = instanceOf('10.0.0.1', status, { ...(paused && { paused }) });
    instance.metadata.annotations = { [instanceAnnotation.removal]: requested, ...annotations };
    expect(hostOfInstance(instance, viewOf({ nodes: [nodeOf('win-1')] }))).toMatchObject(want);
  });
}

test('a removal without its Node is not a deleted Node', () => {
  const instance = instanceOf('10.0.0.1', { phase: 'Ready', node: 'win-1' });
  instance.metadata.annotations = { [instanceAnnotation.removal]: requested };
  expect(hostOfInstance(instance, viewOf()).phase).toBe('Removing');
});

const adopting: [phase: string, timeline: WindowsInstanceStatus['timeline']][] = [
  ['Adopting', [step('connect', 0)]],
  ['Retrying', [step('connect', 0, undefined, { lastError: failure })]],
];
for (const [phase, timeline] of adopting) {
  test(`shows an adoption as ${phase}`, () => {
    const conditions = phase === 'Retrying' ? [condition('Configured', 'False', failure.code)] : [];
    const status = { phase: 'Adopting', step: 'connect', timeline, conditions } as WindowsInstanceStatus;
    expect(hostOfInstance(instanceOf('10.0.0.1', status), viewOf())).toMatchObject({ phase, step: 'connect' });
  });
}

test('a Ready host that waits for the budget says so', () => {
  const instance = instanceOf('10.0.0.1', { phase: 'Ready', node: 'win-1', conditions: [waiting] });
  const host = hostOfInstance(instance, viewOf({ nodes: [nodeOf('win-1')] }));
  expect(host).toMatchObject({ phase: 'Ready', tone: 'good', note: 'win-1 holds the budget' });
});
