import { readFile, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { AppError } from '#base/errors.ts';
import type { Client } from '#kube/client.ts';
import { loadInCluster } from '#kube/config/in-cluster.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { reasonOf } from '../system-error.ts';
import type { LiveTerminal } from '../terminal.ts';
import type { StatusOptions } from './options.ts';

type Wish = Pick<StatusOptions, 'kubeconfig' | 'context'>;
type Around = Pick<LiveTerminal, 'environment' | 'version' | 'clock'>;

/** A client for the cluster that is meant, found as kubectl finds it. */
export async function openClient(wish: Wish, { environment, version, clock }: Around): Promise<Client> {
  const path = await findKubeconfig(wish.kubeconfig, environment);
  const context = wish.context === undefined ? {} : { context: wish.context };
  const connection =
    path === undefined
      ? inCluster(environment)
      : loadKubeconfig(await read(path), { folder: dirname(path), environment, clock, ...context });
  return createClient(connection, { clock, userAgent: `wmco/${version()}` });
}

/** The one that is named; else of those that KUBECONFIG lists the first that exists; else that of the user. */
async function findKubeconfig(
  named: string | undefined,
  environment: Around['environment'],
): Promise<string | undefined> {
  if (named !== undefined) return named;
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(path => path !== '');
  for (const path of listed) if (await exists(path)) return path;
  if (listed[0] !== undefined) return listed[0];
  const { HOME = '' } = environment;
  const own = join(HOME, '.kube', 'config');
  return HOME !== '' && (await exists(own)) ? own : undefined;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('INPUT_UNREADABLE', `kubeconfig ${path} cannot be read (${reasonOf(cause)})`, {
      remedy: 'Give --kubeconfig or the variable KUBECONFIG a file that can be read.',
      cause,
    });
  }
}

function inCluster(environment: Around['environment']): ReturnType<typeof loadInCluster> {
  if (environment['KUBERNETES_SERVICE_HOST'] !== undefined) return loadInCluster(environment);
  throw new AppError('USAGE', 'no cluster was named: there is no kubeconfig, and this is no pod', {
    remedy: 'Give --kubeconfig FILE, or set the variable KUBECONFIG.',
  });
}
