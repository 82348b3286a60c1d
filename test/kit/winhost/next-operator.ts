import { operatorName } from '../../../src/contract/names.ts';
import { leases } from '../../../src/kube/resources.ts';
import type { OperatorProcess } from './real-operator.ts';
import type { RealScene } from './real-scene.ts';
import type { Release } from './releases.ts';

/**
 * Starts the next operator at once: the Lease of a killed one would expire only after minutes. The Lease stays, so that the
 * new leader has a higher count.
 */
export async function nextOperator(scene: RealScene, run: string, release?: Release): Promise<OperatorProcess> {
  const body = { spec: { holderIdentity: '' } };
  await scene.admin.patch(leases, operatorName, { type: 'merge', body }, { namespace: scene.namespace });
  return scene.startOperator(run, release);
}
