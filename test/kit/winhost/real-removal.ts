import { setTimeout as delay } from 'node:timers/promises';
import { type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../../src/contract/names.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import {
  clusterRoleBindings,
  configMaps,
  leases,
  nodes,
  pods,
  roleBindings,
  roles,
  secrets,
} from '../../../src/kube/resources.ts';
import { confirmRemoval } from '../../../src/node/lifecycle/remove/cluster-steps.ts';
import { removeSteps } from '../../../src/node/lifecycle/remove/steps.ts';
import { AgentService } from './agent-service.ts';
import type { OperatorProcess } from './real-operator.ts';
import type { RealScene } from './real-scene.ts';
import type { Member } from './real-sight.ts';

const limitMs = 180_000;
const stepNames = removeSteps.map(({ name }) => name);

/** Deletes the entry of a host from windows-instances. */
export async function deleteEntry({ admin, namespace }: RealScene, { instance }: Member): Promise<void> {
  const body = { data: { [instance]: null } };
  await admin.patch(configMaps, configMapName.instances, { type: 'merge', body }, { namespace });
}

/** Deleting the instance is the last act of a removal. */
export async function isRemoved(scene: RealScene, member: Member): Promise<boolean> {
  return (await instanceOf(scene, member)) === undefined;
}

export async function untilRemoved(scene: RealScene, member: Member, operator: OperatorProcess): Promise<void> {
  for (const endMs = performance.now() + limitMs; ; await delay(100)) {
    const found = await instanceOf(scene, member);
    if (found === undefined) return;
    if (performance.now() > endMs) throw new Error(`not removed: ${JSON.stringify(found.status)}\n${operator.log}`);
  }
}

async function instanceOf(scene: RealScene, { instance }: Member): Promise<WindowsInstance | undefined> {
  return (await scene.instances()).find(({ metadata }) => metadata.name === instance);
}

const kinds: readonly Resource[] = [
  nodes,
  windowsInstances,
  configMaps,
  secrets,
  roles,
  roleBindings,
  clusterRoleBindings,
  pods,
  leases,
];

/** Objects of the cluster that name the host or its address; events and certificate requests expire by themselves. */
export async function objectsOf({ admin }: RealScene, { name, instance, host }: Member): Promise<string[]> {
  const words = [name, instance, host.address].map(word => word.replaceAll('.', '\\.'));
  const mention = new RegExp(`(?<![\\w.])(${words.join('|')})(?![\\w-]|\\.\\w)`);
  const lists = await Promise.all(
    kinds.map(async kind => (await admin.listAll(kind)).items.map(each => [kind, each] as const)),
  );
  return lists
    .flat()
    .filter(([, object]) => mention.test(JSON.stringify(object)))
    .map(([kind, { metadata }]) => `${kind.kind} ${metadata.name}`);
}

/** A step of a removal and how long it took. */
export interface StepTime {
  step: string;
  ms: number;
}

/** The steps of a removal that was not interrupted, by the log of the operator. */
export function stepTimes({ log }: OperatorProcess, { instance }: Member): StepTime[] {
  const runs = stepRuns(log, instance);
  return runs.map(({ step, atMs }, index) => ({ step, ms: (runs[index + 1]?.atMs ?? atMs) - atMs }));
}

/** Since the start of the removal; other journeys have steps of the same names. */
function stepRuns(log: string, instance: string): { step: string; atMs: number }[] {
  const lines = log.split('\n').filter(line => line.includes('"Running step"') && line.includes(`/${instance}"`));
  const runs = lines.flatMap(line => {
    const [, time = '', step = ''] = /^\{"time":"([^"]+)".*"step":"([^"]+)"/.exec(line) ?? [];
    return step === '' ? [] : [{ step, atMs: Date.parse(time) }];
  });
  const start = runs.findIndex(({ step }) => step === confirmRemoval.name);
  return start === -1 ? [] : runs.slice(start);
}

/** A random moment in each of the steps that take longest, in their order, as a step and the time since its start. */
export function drawMoments(times: readonly StepTime[], count: number, random: () => number): StepTime[] {
  const longest = new Set(times.toSorted((one, other) => other.ms - one.ms).slice(0, count));
  return times.filter(time => longest.has(time)).map(({ step, ms }) => ({ step, ms: ms * random() }));
}

/** Kills the operator at this moment of a removal, or when the next step begins if the step is shorter this time. */
export async function killAt(operator: OperatorProcess, { instance }: Member, { step, ms }: StepTime): Promise<string> {
  const wanted = stepNames.indexOf(step);
  const last = () => stepRuns(operator.log, instance).at(-1)?.step;
  const reached = () => stepNames.indexOf(last() ?? '');
  for (const endMs = performance.now() + limitMs; reached() < wanted; await delay(10)) {
    if (performance.now() > endMs) throw new Error(`step ${step} does not begin:\n${operator.log}`);
  }
  for (const endMs = performance.now() + ms; performance.now() < endMs && reached() === wanted; ) await delay(10);
  await operator.kill();
  return last() ?? '';
}

/** Ends the commands of the operator on the host, which outlive it. */
export function killCommands({ host }: Member): number {
  return new AgentService(host).kill();
}
