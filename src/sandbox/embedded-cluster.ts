import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { issueClientPair } from './apiserver/auth/ca.ts';
import { secureParts } from './apiserver/auth/secure.ts';
import type { ServerVersion } from './apiserver/discovery.ts';
import type { RequestHook } from './apiserver/pipeline.ts';
import { type ApiServer, startApiServer } from './apiserver/server.ts';

export interface EmbeddedClusterOptions {
  clock?: Clock;
  log?: Log;
  /** 0 (default) for any free port. */
  port?: number;
  version?: ServerVersion;
  /** To measure or disturb requests. */
  beforeRequest?: RequestHook;
}

/** A cluster without nodes in this process: API server, controllers and authentication. */
export interface EmbeddedCluster extends Omit<ApiServer, 'kubeconfig'>, AsyncDisposable {
  /** For the administrator or the given user, with a client certificate. */
  kubeconfigFor(user?: { commonName: string; organizations?: readonly string[] }): string;
}

export const administrator = { commonName: 'sandbox-admin', organizations: ['system:masters'] };

export async function startEmbeddedCluster(options: EmbeddedClusterOptions = {}): Promise<EmbeddedCluster> {
  const parts = secureParts(options);
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
