import { byteOrder } from '#base/compare.ts';
import { Secret } from '#base/secret.ts';
import { sha256 } from '#base/sha256.ts';
import type { ClusterFacts, ServiceAccountToken } from '#cluster/facts.ts';
import { dir, file } from '#contract/paths.ts';
import { shortHash } from '#contract/services/hash.ts';
import { caBundle } from './ca-bundle.ts';
import { filesForWindows } from './cloud.ts';
import { containerdConfig } from './containerd-config.ts';
import { exporterWebConfig } from './exporter-web-config.ts';
import { cloudNodeKubeconfig, tokenKubeconfig } from './kubeconfig.ts';
import { kubeletConfig } from './kubelet-config.ts';
import type { KubeletSettings } from './kubelet-settings.ts';
import { hasCloudNodeManager } from './services.ts';

/**
 * How a changed file takes effect: `live` files are read when they are needed, `start` files when a service starts; a `credential`
 * is renewed together with the identity that uses it.
 */
export type FileUse = 'live' | 'start' | 'credential';

export interface NodeFile {
  path: string;
  use: FileUse;
  /** Always wrapped, so that no log prints it by accident. */
  content: Secret;
  /** Contains a key, a token or a password. */
  sensitive: boolean;
}

/** All files that the operator writes on a host. */
export interface NodeFiles {
  /** By path, in byte order. */
  files: NodeFile[];
  /** Directories of the operator: unlisted files in them are removed. All files in them are live. */
  ownedDirectories: string[];
}

/** What files depend on that are no credentials. */
export interface SettingsInput {
  facts: ClusterFacts;
  tls: { certificate: string; key: Secret };
  /** `hosts.toml` texts by path below the registries directory. */
  registries: Readonly<Record<string, string>>;
  /** Logins of registries for the kubelet, as `.dockerconfigjson`; none on clusters other than OpenShift. */
  logins?: Secret;
  /** Settings of the kubelet for this host; none by default. */
  kubelet?: KubeletSettings;
}

export interface NodeFilesInput extends SettingsInput {
  /** Credentials for the first certificate request of a kubelet. */
  bootstrapToken: ServiceAccountToken;
  agentToken: ServiceAccountToken;
}

export function nodeFiles(input: NodeFilesInput): NodeFiles {
  return sorted([...settingsOf(input), ...credentialFiles(input)]);
}

/** The files that follow the cluster while a node works. */
export function settingsFiles(input: SettingsInput): NodeFiles {
  return sorted(settingsOf(input));
}

function sorted(files: readonly NodeFile[]): NodeFiles {
  return {
    files: files.toSorted((one, other) => byteOrder(one.path, other.path)),
    ownedDirectories: [dir.registries, dir.tlsCerts],
  };
}

function settingsOf({ facts, tls, registries, logins, kubelet }: SettingsInput): NodeFile[] {
  return [
    ...clusterFiles(facts, kubelet),
    fileOf(file.tlsCertificate, tls.certificate),
    { path: file.tlsKey, content: tls.key, sensitive: true, use: 'live' },
    // As on Linux nodes; the kubelet reads it again every five minutes.
    ...(logins === undefined
      ? []
      : [{ path: file.registryLogins, content: logins, sensitive: true, use: 'live' } as const]),
    ...registryFilesBelow(registries),
  ];
}

function clusterFiles(facts: ClusterFacts, kubelet?: KubeletSettings): NodeFile[] {
  const cloud = Object.entries(filesForWindows(facts.kubeletArguments, facts.workerFiles, facts));
  return [
    // A cloud config may contain credentials of the cloud account.
    ...cloud.map(([path, content]) => startFile(path, content, path === file.cloudConfig)),
    fileOf(file.kubeletCa, facts.kubeletCa),
    startFile(file.kubeletConfig, kubeletConfig(facts.network.clusterDns, facts.kubeletVersion, kubelet)),
    fileOf(file.caBundle, caBundle(facts)),
    startFile(file.containerdConfig, containerdConfig()),
    startFile(file.exporterWebConfig, exporterWebConfig()),
  ];
}

function credentialFiles({ facts, bootstrapToken, agentToken }: NodeFilesInput): NodeFile[] {
  const kubeconfig = (user: string, token: ServiceAccountToken) => tokenKubeconfig(user, facts.apiServerUrl, token);
  const use = 'credential';
  return [
    { ...fileOf(file.bootstrapCa, bootstrapToken.ca), use },
    { path: file.bootstrapKubeconfig, content: kubeconfig('kubelet', bootstrapToken), sensitive: true, use },
    { path: file.agentKubeconfig, content: kubeconfig('wicd', agentToken), sensitive: true, use },
    ...(hasCloudNodeManager(facts.platform)
      ? [{ ...fileOf(file.cloudNodeKubeconfig, cloudNodeKubeconfig(facts.apiServerUrl, agentToken.ca)), use } as const]
      : []),
  ];
}

function registryFilesBelow(registries: Readonly<Record<string, string>>): NodeFile[] {
  return Object.entries(registries).map(([path, content]) =>
    fileOf(`${dir.registries}\\${path}`, content, content.includes('authorization')),
  );
}

function fileOf(path: string, content: string, sensitive = false): NodeFile {
  return { path, content: new Secret(content), sensitive, use: 'live' };
}

function startFile(path: string, content: string, sensitive = false): NodeFile {
  return { ...fileOf(path, content, sensitive), use: 'start' };
}

/**
 * Changes when any path or content does. The hash can be read by many, and a file may contain a password that can be guessed:
 * without the salt no guess can be checked.
 */
export function filesHash(files: readonly NodeFile[], salt: Secret): string {
  // Hashes of contents, so that content cannot be confused with paths.
  const contents = files.map(({ path, content }) => [path, sha256(content.reveal())]);
  return shortHash(JSON.stringify([salt.reveal(), contents]));
}
