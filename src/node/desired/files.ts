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
  /** Wrapped even when harmless, so that no log can print a whole node by accident. */
  content: Secret;
  /** Holds a key, a token or a password: never shown unless asked for. */
  sensitive: boolean;
}

/** Everything the operator writes on a host, as one value. */
export interface NodeFiles {
  /** By path, in byte order. */
  files: NodeFile[];
  /** Directories that hold nothing but our files: what is not listed there is removed. */
  ownedDirectories: string[];
  /** Changes when any path or content does. */
  hash: string;
}

export interface NodeFilesInput {
  facts: ClusterFacts;
  /** Credentials with which a kubelet asks for its first certificate. */
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
  const cloud = Object.entries(filesForWindows(facts.kubeletArguments, facts.workerFiles));
  return [
    // A cloud config may name credentials of the cloud account.
    ...cloud.map(([path, content]) => fileOf(path, content, path === file.cloudConfig)),
    fileOf(file.kubeletCa, facts.kubeletCa),
    fileOf(file.kubeletConfig, kubeletConfig(facts.network.clusterDns)),
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

/** Hash of hashes: contents cannot be confused with paths, and no content leaves its wrapper. */
function contentHash(files: readonly NodeFile[]): string {
  return sha256(JSON.stringify(files.map(({ path, content }) => [path, sha256(content.reveal())])));
}
