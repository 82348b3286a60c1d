import { readFile, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { AppError } from '#base/errors.ts';
import type { Client } from '#kube/client.ts';
import { loadInCluster } from '#kube/config/in-cluster.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { systemErrorReason } from '../system-error.ts';
import type { LiveTerminal } from '../terminal.ts';
import type { StatusOptions } from './options.ts';

type KubeconfigOptions = Pick<StatusOptions, 'kubeconfig' | 'context'>;
type ConnectionDeps = Pick<LiveTerminal, 'environment' | 'version' | 'clock'>;

/** Finds the cluster in the same places as kubectl. */
export async function openClient(
  options: KubeconfigOptions,
  { environment, version, clock }: ConnectionDeps,
): Promise<Client> {
  const path = await findKubeconfig(options.kubeconfig, environment);
  const context = options.context === undefined ? {} : { context: options.context };
  const connection =
    path === undefined
      ? inCluster(environment)
      : loadKubeconfig(await readKubeconfig(path), { folder: dirname(path), environment, clock, ...context });
  return createClient(connection, { clock, userAgent: `wmco/${version()}` });
}

/** --kubeconfig, else the first existing file of KUBECONFIG, else ~/.kube/config. */
async function findKubeconfig(
  option: string | undefined,
  environment: ConnectionDeps['environment'],
): Promise<string | undefined> {
  if (option !== undefined) return option;
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(path => path !== '');
  for (const path of listed) if (await exists(path)) return path;
  if (listed[0] !== undefined) return listed[0];
  const { HOME = '' } = environment;
  const userFile = join(HOME, '.kube', 'config');
  return HOME !== '' && (await exists(userFile)) ? userFile : undefined;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function readKubeconfig(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('INPUT_UNREADABLE', `kubeconfig ${path} cannot be read (${systemErrorReason(cause)})`, {
      remedy: 'Set --kubeconfig or the variable KUBECONFIG to a file that you can read.',
      cause,
    });
  }
}

function inCluster(environment: ConnectionDeps['environment']): ReturnType<typeof loadInCluster> {
  if (environment['KUBERNETES_SERVICE_HOST'] !== undefined) return loadInCluster(environment);
  throw new AppError('USAGE', 'no kubeconfig found, and not running in a pod', {
    remedy: 'Use --kubeconfig FILE, or set the variable KUBECONFIG.',
  });
}
