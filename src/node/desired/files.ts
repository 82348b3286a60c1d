import { byteOrder } from '#base/compare.ts';
import { Secret } from '#base/secret.ts';
import { sha256 } from '#base/sha256.ts';
import type { ClusterFacts, ServiceAccountToken } from '#cluster/facts.ts';
import { dir, file } from '#contract/paths.ts';
import { caBundle } from './ca-bundle.ts';
import { filesForWindows } from './cloud.ts';
import { containerdConfig } from './containerd-config.ts';
import { exporterWebConfig } from './exporter-web-config.ts';
import { cloudNodeKubeconfig, tokenKubeconfig } from './kubeconfig.ts';
import { kubeletConfig } from './kubelet-config.ts';
import { hasCloudNodeManager } from './services.ts';

export interface NodeFile {
  path: string;
  /** Always wrapped, so that no log prints it by accident. */
  content: Secret;
  /** Contains a key, a token or a password. */
  sensitive: boolean;
}

/** All files that the operator writes on a host. */
export interface NodeFiles {
  /** By path, in byte order. */
  files: NodeFile[];
  /** Directories of the operator: unlisted files in them are removed. */
  ownedDirectories: string[];
  /** Changes when any path or content does. */
  hash: string;
}

export interface NodeFilesInput {
  facts: ClusterFacts;
  /** Credentials for the first certificate request of a kubelet. */
  bootstrapToken: ServiceAccountToken;
  agentToken: ServiceAccountToken;
  tls: { certificate: string; key: Secret };
  /** `hosts.toml` texts by path below the registries directory. */
  registries: Readonly<Record<string, string>>;
}

export function nodeFiles(input: NodeFilesInput): NodeFiles {
  const files = [...clusterFiles(input.facts), ...credentialFiles(input), ...registryFilesBelow(input.registries)];
  files.sort((one, other) => byteOrder(one.path, other.path));
  return { files, ownedDirectories: [dir.registries, dir.tlsCerts], hash: contentHash(files) };
}

function clusterFiles(facts: ClusterFacts): NodeFile[] {
  const cloud = Object.entries(filesForWindows(facts.kubeletArguments, facts.workerFiles, facts.kubeletVersion));
  return [
    // A cloud config may contain credentials of the cloud account.
    ...cloud.map(([path, content]) => fileOf(path, content, path === file.cloudConfig)),
    fileOf(file.kubeletCa, facts.kubeletCa),
    fileOf(file.kubeletConfig, kubeletConfig(facts.network.clusterDns, facts.kubeletVersion)),
    fileOf(file.caBundle, caBundle(facts)),
    fileOf(file.containerdConfig, containerdConfig()),
    fileOf(file.exporterWebConfig, exporterWebConfig()),
  ];
}

function credentialFiles({ facts, bootstrapToken, agentToken, tls }: NodeFilesInput): NodeFile[] {
  const kubeconfig = (user: string, token: ServiceAccountToken) => tokenKubeconfig(user, facts.apiServerUrl, token);
  return [
    fileOf(file.bootstrapCa, bootstrapToken.ca),
    { path: file.bootstrapKubeconfig, content: kubeconfig('kubelet', bootstrapToken), sensitive: true },
    { path: file.agentKubeconfig, content: kubeconfig('wicd', agentToken), sensitive: true },
    ...(hasCloudNodeManager(facts.platform)
      ? [fileOf(file.cloudNodeKubeconfig, cloudNodeKubeconfig(facts.apiServerUrl, agentToken.ca))]
      : []),
    fileOf(file.tlsCertificate, tls.certificate),
    { path: file.tlsKey, content: tls.key, sensitive: true },
  ];
}

function registryFilesBelow(registries: Readonly<Record<string, string>>): NodeFile[] {
  return Object.entries(registries).map(([path, content]) =>
    fileOf(`${dir.registries}\\${path}`, content, content.includes('authorization')),
  );
}

function fileOf(path: string, content: string, sensitive = false): NodeFile {
  return { path, content: new Secret(content), sensitive };
}

/** Hash of hashes, so that content cannot be confused with paths. */
function contentHash(files: readonly NodeFile[]): string {
  return sha256(JSON.stringify(files.map(({ path, content }) => [path, sha256(content.reveal())])));
}
