import type { TestProject } from 'vitest/node';
import { createClient } from '../../../src/kube/http-client.ts';
import { startCluster } from './cluster.ts';
import { installDefinitions } from './openshift-crds.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Kubeconfig of the administrator of the cluster that all files share. */
    kubeconfig: string;
    /** Minor version of its kube-apiserver. */
    minor: number;
    hasControllerManager: boolean;
  }
}

/** One cluster for all files of the project "cluster" that do not break anything. Each file uses namespaces of its own. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  try {
    const client = createClient(cluster.adminConfig);
    await installDefinitions(client);
    await client.close();
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  project.provide('kubeconfig', cluster.kubeconfigText);
  project.provide('minor', cluster.minor);
  project.provide('hasControllerManager', cluster.hasControllerManager);
  return () => cluster.stop();
}
