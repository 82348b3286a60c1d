import { machinesController } from '#controllers/machines/controller.ts';
import type { MachineSettings } from '#controllers/machines/observe.ts';
import { machineLabel, namespaceName, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { nodes } from '#kube/resources.ts';
import { type Machine, machineSets, machines } from '#kube/resources-openshift.ts';
import { settle } from './manual-clock.ts';
import { benchVersion, type SourceBench, sourceBench } from './source-bench.ts';

export const inMachineApi = { namespace: namespaceName.machineApi };
const hash = 'hash-of-the-key';
export const defaultSettings: MachineSettings = { platform: 'AWS', pubKeyHash: hash, userDataIsCurrent: true };

export interface MachineBench extends SourceBench {
  /** Changes what the operator knows, and calls its listener. */
  set(settings: MachineSettings | undefined): Promise<void>;
  machine(name?: string, more?: Partial<Machine['status']> & { labels?: Record<string, string> }): Promise<Machine>;
  /** A node that this operator has set up, and its Machine. */
  running(index: number, annotations?: Record<string, string>): Promise<void>;
  /** Of these Machines those that exist. */
  there(...names: string[]): string[];
}

/** The controller of Machines at work, with a MachineSet of three. */
export async function machineBench(settings: MachineSettings = defaultSettings): Promise<MachineBench> {
  const bench = sourceBench();
  let current: MachineSettings | undefined = settings;
  let notify = () => undefined as unknown;
  const controller = machinesController({
    ...bench.parts,
    settings: () => current,
    onSettingsChange: listener => {
      notify = listener;
      return () => (notify = () => undefined);
    },
  });
  await bench.put(machineSets, { metadata: { name: 'set', ...inMachineApi }, spec: { replicas: 3 } });
  await bench.start(controller);
  const machine: MachineBench['machine'] = (name = 'm1', { labels = {}, ...status } = {}) =>
    bench.put(machines, {
      metadata: {
        name,
        ...inMachineApi,
        uid: `uid-${name}`,
        labels: { [machineLabel.osId]: 'Windows', ...labels },
        ownerReferences: [{ apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', name: 'set', uid: 's' }],
      },
      spec: { providerID: `aws:///zone/${name}` },
      status: { phase: 'Provisioned', addresses: [{ type: 'InternalIP', address: '10.0.0.1' }], ...status },
    });
  return Object.assign(bench, {
    set: async (next: MachineSettings | undefined) => {
      current = next;
      notify();
      await settle();
    },
    machine,
    running: async (index: number, annotations: Record<string, string> = {}) => {
      const name = `n${index}`;
      await bench.put(nodes, {
        metadata: {
          name,
          uid: `uid-${name}`,
          labels: { [nodeLabel.os]: 'windows' },
          annotations: {
            [nodeAnnotation.version]: benchVersion,
            [nodeAnnotation.pubKeyHash]: hash,
            ...annotations,
          },
        },
      });
      await machine(`m${index}`, {
        phase: 'Running',
        nodeRef: { name, uid: `uid-${name}` },
        addresses: [{ type: 'InternalIP', address: `10.0.0.${index}` }],
      });
    },
    there: (...names: string[]) =>
      names.filter(name => bench.api.peek(machines, name, namespaceName.machineApi) !== undefined),
  });
}
