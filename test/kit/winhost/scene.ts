import { join } from 'node:path';
import type { ClusterOptions } from '../cluster/cluster.ts';
import { type Approver, type LabCluster, startApprover, startLabCluster } from './cluster.ts';
import { buildKubelet } from './kubelet/build.ts';
import { WindowsLab } from './lab.ts';
import { PretendOperator } from './operator.ts';
import { installRights } from './rights.ts';

/** All that a story about the agent needs: hosts to come, a cluster, somebody who approves, and an operator's hands. */
export interface Scene extends AsyncDisposable {
  lab: WindowsLab;
  cluster: LabCluster;
  approver: Approver;
  operator: PretendOperator;
}

export async function startScene(agent: string, options: ClusterOptions = {}): Promise<Scene> {
  const kubelet = await buildKubelet();
  const lab = await WindowsLab.start();
  try {
    const cluster = await startLabCluster(lab, options);
    const approver = startApprover(cluster.client);
    const program = (name: string) => join(lab.parts.doubles, 'lab', 'programs', name);
    const operator = new PretendOperator({
      client: cluster.client,
      url: cluster.url,
      ca: cluster.cluster.ca,
      agent,
      kubelet,
      service: program('service.exe'),
      logRunner: program('kube-log-runner.exe'),
    });
    await installRights(cluster.client);
    await operator.publish();
    return {
      lab,
      cluster,
      approver,
      operator,
      async [Symbol.asyncDispose]() {
        await approver.stop();
        await cluster.stop();
        await lab.stop();
      },
    };
  } catch (error) {
    await lab.stop();
    throw error;
  }
}
