import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dir } from '../../../src/contract/paths.ts';
import type { ClusterOptions } from '../cluster/cluster.ts';
import { type Approver, startApprover } from '../approve-requests.ts';
import { type LabCluster, startLabCluster } from './cluster.ts';
import type { Output } from '../planted-secrets.ts';
import { checkCluster } from '../secret-check.ts';
import type { WindowsHost } from './host.ts';
import { buildKubelet } from './kubelet/build.ts';
import { WindowsLab } from './lab.ts';
import { ManualLabOperator } from './operator.ts';
import { startMirroring } from '../report-mirror.ts';
import { installRights, namespace } from './rights.ts';

/**
 * What a test of the agent needs: a lab for hosts, a cluster, an approver and a manual operator. Its end fails when a secret of
 * the cluster can be read in an object or in a log of a host.
 */
export interface Scene extends AsyncDisposable {
  lab: WindowsLab;
  cluster: LabCluster;
  approver: Approver;
  operator: ManualLabOperator;
}

export async function startScene(agent: string, options: ClusterOptions = {}): Promise<Scene> {
  const kubelet = await buildKubelet();
  const lab = await WindowsLab.start();
  try {
    const cluster = await startLabCluster(lab, options);
    const approver = startApprover(cluster.client);
    const program = (name: string) => join(lab.parts.doubles, 'lab', 'programs', name);
    await installRights(cluster.client);
    const mirror = startMirroring(cluster.client, namespace);
    const operator = new ManualLabOperator({
      client: cluster.client,
      url: cluster.url,
      ca: cluster.cluster.ca,
      agent,
      kubelet,
      service: program('service.exe'),
      logRunner: program('kube-log-runner.exe'),
    });
    await operator.publish();
    return {
      lab,
      cluster,
      approver,
      operator,
      async [Symbol.asyncDispose]() {
        await approver.stop();
        await mirror[Symbol.asyncDispose]();
        try {
          await checkCluster(cluster.client, lab.hosts.flatMap(logsOf));
        } finally {
          await cluster.stop();
          await lab.stop();
        }
      },
    };
  } catch (error) {
    await lab.stop();
    throw error;
  }
}

/** What the programs on a host have logged, also when it is off. */
function logsOf({ name, drive }: WindowsHost): Output[] {
  const folder = drive.path(dir.log);
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  return entries.map(({ parentPath, name: log }) => ({
    where: `log ${log} of ${name}`,
    text: readFileSync(join(parentPath, log), 'utf8'),
  }));
}
