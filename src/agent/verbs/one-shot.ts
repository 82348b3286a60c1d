import type { Waiting } from '#base/waiting/poll.ts';
import { servicePatience } from '../services/service-patience.ts';
import type { Client } from '#kube/client.ts';
import { createClient } from '#kube/http-client.ts';
import { createHostValues } from '../host-values/host-values.ts';
import { openConnection } from '../identity/connection.ts';
import type { HostPorts, HostValues } from '../ports.ts';
import type { VerbDeps } from './verb.ts';

export function waitingIn({ clock, signal }: Pick<VerbDeps, 'clock' | 'signal'>): Waiting {
  return { clock, signal, patience: servicePatience };
}

/** The ports of the host with the values and preparations that are made of them. */
export function portsIn(world: Pick<VerbDeps, 'host' | 'clock'>): HostPorts & { host: HostValues } {
  const host = world.host();
  return { ...host, host: createHostValues(host, { clock: world.clock }) };
}

/** A client for verbs that do not keep a certificate of their own. */
export async function clientIn(world: VerbDeps, kubeconfigPath: string): Promise<Client> {
  const { files, environment } = world.host();
  const { clock, log } = world;
  const connection = await openConnection({ kubeconfigPath, environment: environment.process(), files, clock, log });
  return createClient(connection, { clock, log, ...world.client });
}
