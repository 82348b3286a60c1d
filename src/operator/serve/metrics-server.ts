import { Server as HttpsServer } from 'node:https';
import { attempt } from '#base/errors.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { readTlsProfile, tlsInForce, type TlsSettings } from '#cluster/tls-profile.ts';
import { operatorName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { metricsContentType } from './metrics-text.ts';
import { ScrapeAccess, type Verdict } from './scrape-access.ts';
import { selfSigned } from './self-signed.ts';
import { isLoopback, type ListenAddress } from '../settings.ts';
import { tlsOptions } from './tls-settings.ts';
import { type WebAnswer, webServer } from './web-server.ts';

export interface MetricsServerOptions {
  address: ListenAddress;
  client: Pick<Client, 'create'>;
  /** The TLS profile is among its objects. */
  facts: Pick<FactsSource, 'objects' | 'onChange'>;
  print: () => string;
  clock: Clock;
  log: Log;
}

const refusals: Record<Exclude<Verdict, 'allowed'>, WebAnswer> = {
  unknown: { code: 401, text: 'a bearer token of the cluster is required\n' },
  forbidden: { code: 403, text: 'permission denied: get /metrics\n' },
};

/** Serves metrics: plain HTTP on loopback, otherwise TLS with authorization by the cluster. */
export function metricsServer(options: MetricsServerOptions): Runnable {
  const { address, print, log } = options;
  const answer = (): WebAnswer => ({ code: 200, text: print(), contentType: metricsContentType });
  const common = { name: 'metrics server', address, log };
  if (isLoopback(address))
    return webServer({ ...common, handle: path => (path === '/metrics' ? answer() : undefined) });
  const access = new ScrapeAccess(options.client, options.clock);
  const pair = selfSigned(operatorName, options.clock.now());
  const identity = { cert: pair.certificate, key: pair.key.reveal() };
  return webServer({
    ...common,
    tls: { ...identity, ...tlsOptions(profileOf(options)) },
    handle: async (path, authorization) => {
      if (path !== '/metrics') return undefined;
      const verdict = await access.check(authorization);
      return verdict === 'allowed' ? answer() : refusals[verdict];
    },
    onListening: server => {
      // Open connections keep their settings.
      const adapt = () => {
        if (server instanceof HttpsServer) server.setSecureContext({ ...identity, ...tlsOptions(profileOf(options)) });
      };
      adapt();
      return options.facts.onChange(adapt);
    },
  });
}

/** The TLS profile of the cluster; undefined when it does not apply or cannot be read. */
function profileOf({ facts }: MetricsServerOptions): TlsSettings | undefined {
  const apiServer = facts.objects().find(({ kind }) => kind === 'APIServer');
  const profile = attempt(() => readTlsProfile(apiServer));
  return profile.ok ? tlsInForce(profile.value) : undefined;
}
