import { afterAll, inject } from 'vitest';
import type { Client } from '../../../src/kube/client.ts';
import { loadKubeconfig } from '../../../src/kube/config/load-kubeconfig.ts';
import { type ClientOptions, createClient } from '../../../src/kube/http-client.ts';
import { namespaces } from '../../../src/kube/resources.ts';
import type { Connection } from '../../../src/kube/transport/connection.ts';

/** The administrator's way to the cluster that all files of the project "cluster" share. */
export function adminConnection(): Connection {
  return loadKubeconfig(inject('kubeconfig'));
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
