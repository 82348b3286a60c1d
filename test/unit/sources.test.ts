import { afterAll, beforeAll, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../src/sandbox/embedded-cluster.ts';
import { type SourceSetup, sourceStories, startSources } from '../kit/source-stories.ts';

let cluster: EmbeddedCluster;
let admin: Client;
let world: SourceSetup;

beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  admin = createClient(loadKubeconfig(cluster.kubeconfigFor()));
  const kubeconfigFor = (commonName: string) => cluster.kubeconfigFor({ commonName });
  world = await startSources({ admin, kubeconfigFor });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await admin.close();
  await cluster.close();
});

for (const [title, story] of sourceStories) test(`on the embedded API server ${title}`, () => story(world));
