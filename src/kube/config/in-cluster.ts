import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import type { Connection } from '../transport/connection.ts';
import { tokenIdentity } from './identity.ts';
import { certificateMaxAgeMs, tokenMaxAgeMs } from './load-kubeconfig.ts';
import { fileText } from './text-source.ts';

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The connection of a pod: address from its environment, token and CA from the files of its service account. */
export function loadInCluster(
  environment: Readonly<Record<string, string | undefined>>,
  folder = accountFolder,
  clock: Clock = systemClock,
): Connection {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  if (host === '' || !/^\d{1,5}$/.test(port)) {
    throw new AppError('SETTING_INVALID', 'KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is missing or invalid', {
      remedy: 'Run inside a pod, or use --kubeconfig.',
    });
  }
  const authority = fileText(join(folder, 'ca.crt'), 'CA certificates', certificateMaxAgeMs, clock);
  const token = fileText(join(folder, 'token'), 'token', tokenMaxAgeMs, clock);
  const namespace = readNamespace(join(folder, 'namespace'));
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    skipTlsVerify: false,
    trusted: () => authority.read(),
    identity: tokenIdentity(token),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function readNamespace(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
