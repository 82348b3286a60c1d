import type { Log } from '#base/log.ts';
import type { Waiting } from '#base/waiting/poll.ts';
import { servicePatience } from '../services/ensure.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import type { Client } from '#kube/client.ts';
import { configMaps } from '#kube/resources.ts';
import { createClient } from '#kube/http-client.ts';
import { createHostValues } from '../host-values/host-values.ts';
import { openConnection } from '../identity/connection.ts';
import type { HostPorts, HostValues, ManifestSource } from '../ports.ts';
import type { FlagValues } from './flags.ts';
import type { VerbDeps } from './verb.ts';

export function waitingIn({ clock, signal }: Pick<VerbDeps, 'clock' | 'signal'>): Waiting {
  return { clock, signal, patience: servicePatience };
}

/** The log of a verb that runs as a Windows service. */
export function logIn(values: FlagValues, deps: Pick<VerbDeps, 'log' | 'openLog'>): Log {
  const maxBytes = Number(values['log-file-max-size']) * 1_000_000;
  return values['log-dir'] === '' ? deps.log : deps.openLog(values['log-dir'], maxBytes);
}

/** The ports of the host, with native values and preparations. */
export function portsIn(deps: Pick<VerbDeps, 'host' | 'clock'>): HostPorts & { host: HostValues } {
  const host = deps.host();
  return { ...host, host: createHostValues(host, { clock: deps.clock }) };
}

/** A client for verbs that do not maintain a certificate. */
export async function clientIn(deps: VerbDeps, kubeconfigPath: string): Promise<Client> {
  const { files, environment } = deps.host();
  const { clock, log } = deps;
  const connection = await openConnection({ kubeconfigPath, environment: environment.process(), files, clock, log });
  return createClient(connection, { clock, log, ...deps.client });
}

/** Services ConfigMaps from the API server, read by name: the token of a host is not allowed to list them. */
export function manifestsIn(client: Client, namespace: string, signal: AbortSignal): ManifestSource {
  return {
    servicesConfigMap: version => client.find(configMaps, servicesConfigMapName(version), { namespace, signal }),
  };
}
