import type { MachineView } from '#controllers/machines/decide.ts';
import { machineLabel, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';

export const version = '11.0.0-abcdef0';
export const labels = { [machineLabel.osId]: 'Windows' };
export const ready: MachineView = {
  kind: 'Machine',
  name: 'm1',
  labels,
  phase: 'Running',
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  nodeRef: { name: 'n1', uid: 'u1' },
  providerId: 'aws:///a/i-1',
  machineSet: 'set',
  deleting: false,
};
export const fresh: MachineView = { ...ready, phase: 'Provisioned', nodeRef: undefined };
export const machine = (index: number, more: Partial<MachineView> = {}): MachineView => ({
  ...ready,
  name: `m${index}`,
  nodeRef: { name: `n${index}`, uid: `u${index}` },
  ...more,
});
export const configured = { [nodeAnnotation.version]: version, [nodeAnnotation.pubKeyHash]: 'hash' };
export const node = (index: number, annotations: Record<string, string> = configured): NodeView => ({
  name: `n${index}`,
  uid: `u${index}`,
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
