import { afterAll, beforeAll, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { type SourceSetup, sourceStories, startSources } from '../kit/source-stories.ts';

let cluster: Cluster;
let admin: Client;
let world: SourceSetup;

beforeAll(async () => {
  cluster = await startCluster();
  admin = createClient(cluster.adminConfig);
  world = await startSources({ admin, kubeconfigFor: (user, groups) => cluster.kubeconfigFor(user, groups) });
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await admin?.close();
  await cluster?.stop();
});

for (const [title, story] of sourceStories) test(`on the real API server ${title}`, () => story(world));
