import { dirname, resolve } from 'node:path';
import { type Kubeconfig, type KubeconfigCluster, type KubeconfigUser, parseKubeconfig } from './kubeconfig.ts';

export interface KubeconfigFile {
  path: string;
  text: string;
}

/** Merges the files as kubectl does: the first file with a cluster, user, context or current-context of a name wins. */
export function parseKubeconfigFiles(files: readonly KubeconfigFile[]): Kubeconfig {
  const configs = files.map(parseFile);
  return {
    label: `kubeconfig ${files.map(({ path }) => path).join(', ')}`,
    clusters: firstOfName(configs.map(({ clusters }) => clusters)),
    users: firstOfName(configs.map(({ users }) => users)),
    contexts: firstOfName(configs.map(({ contexts }) => contexts)),
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
  };
}

function firstOfName<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  return new Map(maps.toReversed().flatMap(map => [...map]));
}

function parseFile({ path, text }: KubeconfigFile): Kubeconfig {
  const config = parseKubeconfig(text, `kubeconfig ${path}`);
  const folder = dirname(path);
  return {
    ...config,
    clusters: mapValues(config.clusters, cluster => absoluteCluster(cluster, folder)),
    users: mapValues(config.users, user => absoluteUser(user, folder)),
  };
}

function mapValues<T>(map: ReadonlyMap<string, T>, change: (value: T) => T): ReadonlyMap<string, T> {
  return new Map([...map].map(([name, value]) => [name, change(value)]));
}

function absoluteCluster(cluster: KubeconfigCluster, folder: string): KubeconfigCluster {
  const { caFile } = cluster;
  return caFile === undefined ? cluster : { ...cluster, caFile: resolve(folder, caFile) };
}

function absoluteUser(user: KubeconfigUser, folder: string): KubeconfigUser {
  const { tokenFile, clientCertificateFile, clientKeyFile, exec } = user;
  return {
    ...user,
    ...(tokenFile !== undefined && { tokenFile: resolve(folder, tokenFile) }),
    ...(clientCertificateFile !== undefined && { clientCertificateFile: resolve(folder, clientCertificateFile) }),
    ...(clientKeyFile !== undefined && { clientKeyFile: resolve(folder, clientKeyFile) }),
    // A command without a slash is found by PATH.
    ...(exec?.command.includes('/') && { exec: { ...exec, command: resolve(folder, exec.command) } }),
  };
}
