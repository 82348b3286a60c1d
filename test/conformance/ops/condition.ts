import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../../../src/base/condition.ts';
import type { WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import type { TimelineStep } from '../../../src/contract/windows-instance/resource.ts';
import { decide } from '../../../src/controllers/condition/decide.ts';
import { withUpgradeable } from '../../../src/controllers/condition/upgradeable.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = { busyTracking };

const version = '11.0.0';

/**
 * Runs the steps against a spec; each step has the expected conditions or number of writes. What keeps the condition False is a host
 * between cordon and uncordon, where the original has a controller at work.
 */
function busyTracking(input: Input): unknown {
  const hosts = new Map<string, WindowsInstance>();
  let specConditions: readonly Condition[] = input.specConditionsBefore ?? [];
  const wrong: unknown[] = [];
  for (const [index, step] of (input.steps as Input[]).entries()) {
    const nowMs = Date.parse('2026-01-01T00:00:00Z') + index * 1000;
    hosts.set(step.controller, hostAfter(step, hosts.get(step.controller), new Date(nowMs).toISOString()));
    const { isSafe } = decide({ instances: [...hosts.values()], isPaused: false, version, nowMs });
    const object = { metadata: {}, spec: { conditions: [...specConditions] } };
    // Without a name the controller is not started.
    const next = input.env?.OPERATOR_CONDITION_NAME ? withUpgradeable(object, isSafe, nowMs) : object;
    specConditions = next.spec?.conditions ?? [];
    const actual = { patches: next === object ? 0 : 1, after: specConditions.map(withoutTime) };
    const wanted = { patches: step.patches ?? actual.patches, after: step.specConditionsAfter ?? actual.after };
    if (!isDeepStrictEqual(actual, wanted)) wrong.push({ step, actual });
  }
  return { ok: wrong.length === 0, wrong };
}

function hostAfter(step: Input, before: WindowsInstance | undefined, time: string): WindowsInstance {
  const timeline = before?.status?.timeline ?? [];
  const isFailed = step.error === true;
  const isOver = step.do === 'free' || (step.do !== 'busy' && !isFailed && step.requeue !== true);
  const added: TimelineStep[] = [
    ...(step.do === 'busy' ? [{ name: 'cordon', started: time, finished: time, attempts: 1 }] : []),
    ...(isOver ? [{ name: 'uncordon', started: time, finished: time, attempts: 1 }] : []),
  ];
  return {
    metadata: { name: step.controller },
    spec: { address: '10.0.0.1', username: 'Administrator' },
    status: { phase: isFailed ? 'Failed' : 'Upgrading', timeline: [...timeline, ...added] },
  };
}

function withoutTime({ lastTransitionTime: _time, ...condition }: Condition): Omit<Condition, 'lastTransitionTime'> {
  return condition;
}
