import { onTestFinished } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { type ClientOptions, createClient } from '../../src/kube/http-client.ts';
import type { Resource } from '../../src/kube/resource.ts';
import type { Connection } from '../../src/kube/transport/connection.ts';
import { type Handler, startServer, type TestServer } from './tls-server.ts';

export const nodes: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
export const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** The real client and a server with the answers of the test; both end with the test. */
export async function clientTo(
  handler: Handler,
  options: ClientOptions & Partial<Connection> = {},
): Promise<{ client: Client; server: TestServer; seen: TestServer['seen'] }> {
  const server = await startServer(handler);
  const client = createClient(server.connection(options), options);
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  return { client, server, seen: server.seen };
}
