import { afterAll, inject } from 'vitest';
import type { Client } from '../../../src/kube/client.ts';
import { loadKubeconfig } from '../../../src/kube/config/load-kubeconfig.ts';
import { type ClientOptions, createClient } from '../../../src/kube/http-client.ts';
import { namespaces } from '../../../src/kube/resources.ts';
import type { Connection } from '../../../src/kube/transport/connection.ts';

/** Kubeconfig of the administrator of this worker's cluster, which the files of the project "cluster" use in turn. */
export function sharedKubeconfig(): string {
  return inject('kubeconfigs')[Number(process.env['VITEST_POOL_ID']) - 1] ?? '';
}

export function adminConnection(): Connection {
  return loadKubeconfig(sharedKubeconfig());
}

/** A client for the shared cluster that is closed after the last test of the file. */
export function adminClient(options: ClientOptions = {}): Client {
  const client = createClient(adminConnection(), options);
  afterAll(() => client.close());
  return client;
}

/** A namespace of the file's own, so that files do not meet each other's objects. */
export async function makeNamespace(client: Client, prefix: string): Promise<string> {
  const { metadata } = await client.create(namespaces, { metadata: { generateName: `${prefix}-` } });
  const { name = '' } = metadata;
  afterAll(() => client.delete(namespaces, name));
  return name;
}
