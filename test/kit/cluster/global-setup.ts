import type { TestProject } from 'vitest/node';
import { createClient } from '../../../src/kube/http-client.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { installDefinitions } from './openshift-crds.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Kubeconfigs of the administrators of the shared clusters, one per worker. */
    kubeconfigs: readonly string[];
    /** Minor version of their kube-apiserver. */
    minor: number;
    hasControllerManager: boolean;
  }
}

/** A cluster per worker for all files that do not break it: one file at a time uses it, with namespaces of its own. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const started = await Promise.allSettled(Array.from({ length: project.config.maxWorkers }, startShared));
  const clusters = started.flatMap(each => (each.status === 'fulfilled' ? each.value : []));
  const stop = async () => void (await Promise.all(clusters.map(cluster => cluster.stop())));
  const failed = started.find(each => each.status === 'rejected');
  const [first] = clusters;
  if (failed !== undefined || first === undefined) {
    await stop();
    throw failed?.reason;
  }
  project.provide(
    'kubeconfigs',
    clusters.map(cluster => cluster.kubeconfigText),
  );
  project.provide('minor', first.minor);
  project.provide('hasControllerManager', first.hasControllerManager);
  return stop;
}

async function startShared(): Promise<Cluster> {
  const cluster = await startCluster();
  try {
    const client = createClient(cluster.adminConfig);
    await installDefinitions(client);
    await client.close();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
