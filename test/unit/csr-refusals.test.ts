import { afterAll, beforeAll, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../src/sandbox/embedded-cluster.ts';
import { csrRows, judgeRow, prepareCsrCluster } from '../kit/csr-rows.ts';

let cluster: EmbeddedCluster;
let admin: Client;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  admin = createClient(loadKubeconfig(cluster.kubeconfigFor()));
  await prepareCsrCluster(admin);
});
afterAll(async () => {
  await admin.close();
  await cluster.close();
});

for (const row of csrRows) {
  test(`on the embedded API server ${row.op}: ${row.name}`, () =>
    judgeRow(row, {
      admin,
      kubeconfigFor: (commonName, organizations) => cluster.kubeconfigFor({ commonName, organizations }),
    }));
}
