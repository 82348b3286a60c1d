import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { issueClientPair } from './apiserver/auth/ca.ts';
import { secureParts } from './apiserver/auth/secure.ts';
import type { ServerVersion } from './apiserver/discovery.ts';
import { type ApiServer, startApiServer } from './apiserver/server.ts';

export interface EmbeddedClusterOptions {
  clock?: Clock;
  log?: Log;
  /** 0 for any free port, which is the default. */
  port?: number;
  version?: ServerVersion;
}

/** An API server with its controllers and identities: all of a cluster but the nodes, in this process. */
export interface EmbeddedCluster extends Omit<ApiServer, 'kubeconfig'>, AsyncDisposable {
  /** For the administrator, or for whoever is named, known by a client certificate. */
  kubeconfigFor(user?: { commonName: string; organizations?: readonly string[] }): string;
}

/** The minor version of Kubernetes in which service account tokens got ids. */
const tokenIdsSince = 30;
const administrator = { commonName: 'sandbox-admin', organizations: ['system:masters'] };

export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const parts = secureParts({ ...options, givesTokenIds: Number(options.version?.minor ?? 0) >= tokenIdsSince });
  const server = await startApiServer({ ...options, ...parts });
  return {
    ...server,
    kubeconfigFor: (user = administrator) => {
      const { certificate, key } = issueClientPair(parts.authority, user, parts.clock);
      return server.kubeconfig({ clientCertificate: certificate, clientKey: key });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}
