import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { AppError } from '#base/errors.ts';
import type { Client } from '#kube/client.ts';
import { loadInCluster } from '#kube/config/in-cluster.ts';
import { type KubeconfigFile, parseKubeconfigFiles } from '#kube/config/kubeconfig-files.ts';
import { connectionOf } from '#kube/config/load-kubeconfig.ts';
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
  const files = await kubeconfigFiles(options.kubeconfig, environment);
  const context = options.context === undefined ? {} : { context: options.context };
  const connection =
    files === undefined
      ? inCluster(environment)
      : connectionOf(parseKubeconfigFiles(files), { environment, clock, ...context });
  return createClient(connection, { clock, userAgent: `wmco/${version()}` });
}

/** Exactly --kubeconfig, else all existing files of KUBECONFIG, else ~/.kube/config. */
async function kubeconfigFiles(
  option: string | undefined,
  environment: ConnectionDeps['environment'],
): Promise<KubeconfigFile[] | undefined> {
  if (option !== undefined) return [await readKubeconfig(option)];
  const listed = (environment['KUBECONFIG'] ?? '').split(delimiter).filter(path => path !== '');
  if (listed.length > 0) return listedFiles(listed);
  const { HOME = '' } = environment;
  const userFile = HOME === '' ? [] : await existingFiles([join(HOME, '.kube', 'config')]);
  return userFile.length > 0 ? userFile : undefined;
}

async function listedFiles(paths: readonly string[]): Promise<KubeconfigFile[]> {
  const files = await existingFiles(paths);
  if (files.length === 0) {
    throw new AppError('INPUT_UNREADABLE', `no file in the variable KUBECONFIG exists: ${paths.join(', ')}`, {
      remedy: 'Set KUBECONFIG to the path of an existing kubeconfig, or use --kubeconfig FILE.',
    });
  }
  // `touch` creates empty files for `kubectl config` to fill.
  const filled = files.filter(({ text }) => text.trim() !== '');
  return filled.length > 0 ? filled : files;
}

async function existingFiles(paths: readonly string[]): Promise<KubeconfigFile[]> {
  const files: KubeconfigFile[] = [];
  for (const path of paths) {
    try {
      files.push(await readKubeconfig(path));
    } catch (error) {
      if (!isMissingFile(error)) throw error;
    }
  }
  return files;
}

function isMissingFile(error: unknown): boolean {
  return error instanceof AppError && (error.cause as NodeJS.ErrnoException).code === 'ENOENT';
}

async function readKubeconfig(path: string): Promise<KubeconfigFile> {
  try {
    return { path, text: await readFile(path, 'utf8') };
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
