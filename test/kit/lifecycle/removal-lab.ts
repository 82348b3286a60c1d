import { type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import { agentName, instanceAnnotation } from '../../../src/contract/names.ts';
import { dir } from '../../../src/contract/paths.ts';
import type { LifecycleParts } from '../../../src/controllers/lifecycle/controller.ts';
import type { Client } from '../../../src/kube/client.ts';
import { refused } from '../memory-api.ts';
import { until } from '../until.ts';
import { type JoinLab, type LabOperator, namespace, startJoinLab } from './join-lab.ts';
import type { LabHost } from './lab-host.ts';

export const removalRequest = { [instanceAnnotation.removal]: '2026-03-01T12:00:00Z' };
export const force = { [instanceAnnotation.forceRemoval]: 'true' };
export const direct = { kind: 'Direct' } as const;

export async function annotate(
  lab: JoinLab,
  annotations: Record<string, string | null>,
  name = 'win-5',
): Promise<WindowsInstance> {
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  return lab.client.patch(windowsInstances, name, patch, { namespace });
}

/** A host that has joined, with the operator that did it. */
export async function joinedLab(over: Partial<LifecycleParts> = {}, spec: Partial<WindowsInstance['spec']> = {}) {
  const lab = await startJoinLab();
  const host = lab.host();
  const operator: LabOperator = lab.start(over);
  await lab.add(spec);
  await lab.ready();
  return { lab, host, operator };
}

export async function isGone(lab: JoinLab, name = 'win-5'): Promise<boolean> {
  return (await lab.client.find(windowsInstances, name, { namespace })) === undefined;
}

export const untilGone = (lab: JoinLab, name?: string) => until(() => isGone(lab, name), 'the instance is deleted');

/** What is still on the host: services, and files in folders of the operator. */
export async function remains({ model }: LabHost): Promise<string[]> {
  const services = (await model.services.list()).filter(
    ({ name, config }) => name === agentName || config.description.includes('OpenShift managed'),
  );
  const files = [...model.fileTexts.keys()].filter(path =>
    [dir.k, dir.agentPrograms, dir.agentNative].some(folder => path.startsWith(`${folder}\\`)),
  );
  return [...services.map(({ name }) => name), ...files];
}

/** As an admission webhook does that protects all pods, while it is on. */
export function refusingEvictions(client: Client, isOn = () => true): Client {
  const create: Client['create'] = (resource, object, options = {}) =>
    options.subresource === 'eviction' && isOn()
      ? Promise.reject(refused(403, 'Forbidden'))
      : client.create(resource, object, options);
  return new Proxy(client, {
    get: (target, name) => {
      const member: unknown = name === 'create' ? create : Reflect.get(target, name);
      return typeof member === 'function' ? (member as (...args: unknown[]) => unknown).bind(target) : member;
    },
  });
}
