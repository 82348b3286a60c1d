import { afterAll, beforeAll, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { csrRows, judgeRow, prepareCsrCluster } from '../kit/csr-rows.ts';

let cluster: Cluster;
let admin: Client;

beforeAll(async () => {
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
  await prepareCsrCluster(admin);
});
afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
});

for (const row of csrRows) {
  test(`on the real API server ${row.op}: ${row.name}`, () =>
    judgeRow(row, { admin, kubeconfigFor: (user, groups) => cluster.kubeconfigFor(user, groups) }));
}
