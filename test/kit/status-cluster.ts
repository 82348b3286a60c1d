import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, operatorName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { configMaps, leases, type Node, nodes } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';

/** A cluster in which a test plays the operator: it writes what there is to be shown. */
export interface StatusCluster extends AsyncDisposable {
  sandbox: Sandbox;
  client: Client;
  namespace: string;
  /** Makes an object, and gives it the status it has. */
  put<T extends KubeResource>(resource: Resource<T>, object: T): Promise<T>;
  putInstance(object: WindowsInstance): Promise<WindowsInstance>;
  putNode(name: string, over?: Partial<Node>): Promise<Node>;
  putMachine(name: string, phase: string): Promise<void>;
  list(entries: Record<string, string>): Promise<void>;
  /** Renews the Lease of an operator at that time. */
  lead(renewMs: number): Promise<void>;
}

export async function statusCluster(): Promise<StatusCluster> {
  const sandbox = await startSandbox({ hosts: 0, listsHosts: false });
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  const { namespace } = sandbox;
  const put = async <T extends KubeResource>(resource: Resource<T>, object: T): Promise<T> => {
    const where = object.metadata.namespace;
    const options = where === undefined ? {} : { namespace: where };
    const made = await client.create(resource, object, options);
    const { status } = object as { status?: unknown };
    const { name = '' } = object.metadata;
    if (status === undefined) return made;
    return client.patch(resource, name, { type: 'merge', body: { status } }, { ...options, subresource: 'status' });
  };
  return {
    sandbox,
    client,
    namespace,
    put,
    putInstance: object => put(windowsInstances, { ...object, metadata: { ...object.metadata, namespace } }),
    putNode: (name, over = {}) =>
      put(nodes, {
        metadata: { name, labels: { 'kubernetes.io/os': 'windows', 'node-role.kubernetes.io/worker': '' } },
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        },
        ...over,
      }),
    putMachine: async (name, phase) => {
      const labels = { 'machine.openshift.io/os-id': 'Windows' };
      await put(machines, { metadata: { name, namespace: 'openshift-machine-api', labels }, status: { phase } });
    },
    list: async data => {
      await put(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
    },
    lead: async renewMs => {
      const renewTime = `${new Date(renewMs).toISOString().slice(0, 23)}000Z`;
      const spec = { holderIdentity: 'operator-1', leaseDurationSeconds: 15, renewTime };
      await put(leases, { metadata: { name: operatorName, namespace }, spec });
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await sandbox.stop();
    },
  };
}
