import { pathKey } from '#contract/host-path.ts';
import { dir, file, requiredDirectories } from '#contract/paths.ts';
import { acceptedFile } from '../accepted.ts';
import type { Access } from './plan.ts';

export interface FolderRule {
  path: string;
  access: Access;
  /** Applies to everything in it, at any depth, except folders with a rule of their own. */
  below: boolean;
}

const kubeletPki = dir.kubeletPki.replace(/^c/, 'C').replace(/\\$/, '');
const logs = requiredDirectories.filter(path => path.startsWith(`${dir.log}\\`));
const secrets = [
  dir.agentCerts,
  dir.tls,
  dir.staged,
  dir.incoming,
  // hybrid-overlay-node stores its keys next to the CNI configuration.
  dir.cniConfig,
  kubeletPki,
  ...logs,
];
const programs = [dir.cni, dir.containerd, dir.registries, dir.staticPods];

/** Every folder of the agent, parents first: a folder is checked only when its parent is safe. */
export const folderRules: readonly FolderRule[] = [
  { path: dir.k, access: 'programs', below: true },
  // The Go operator put scripts of its services ConfigMap here; other files belong to other programs.
  { path: dir.temp, access: 'programs', below: false },
  ...['C:\\var', 'C:\\var\\lib', 'C:\\var\\lib\\kubelet', dir.log].map(shared),
  { path: dir.cniState, access: 'secret', below: false },
  ...programs.map(path => ({ path, access: 'programs', below: true }) as const),
  ...secrets.map(path => ({ path, access: 'secret', below: true }) as const),
];

/** Files with keys, tokens or passwords in folders that everyone can read. */
export const secretFiles: readonly string[] = [
  file.kubeconfig,
  file.bootstrapKubeconfig,
  file.agentKubeconfig,
  file.cloudNodeKubeconfig,
  file.cloudConfig,
  file.registryLogins,
  acceptedFile,
];

/** The kubelet creates it with the rights of its folder, on every host that joins. */
export function inheritsRights(path: string): boolean {
  return pathKey(path) === pathKey(file.kubeconfig);
}

const ruleKeys = new Set(folderRules.map(({ path }) => pathKey(path)));

export function hasRule(path: string): boolean {
  return ruleKeys.has(pathKey(path));
}

function shared(path: string): FolderRule {
  return { path, access: 'shared', below: false };
}
