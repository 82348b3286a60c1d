import { pathKey } from '#contract/host-path.ts';
import { dir, file, requiredDirectories } from '#contract/paths.ts';
import type { Access } from './plan.ts';

export interface FolderRule {
  path: string;
  access: Access;
  /** Whether the same holds for everything in it, at any depth, but for folders with a rule of their own. */
  below: boolean;
}

const kubeletPki = dir.kubeletPki.replace(/^c/, 'C').replace(/\\$/, '');
const logs = requiredDirectories.filter(path => path.startsWith(`${dir.log}\\`));
const secrets = [
  dir.agentCerts,
  dir.tls,
  dir.staged,
  dir.incoming,
  // hybrid-overlay-node keeps its keys beside the CNI configuration.
  dir.cniConfig,
  kubeletPki,
  ...logs,
];
const programs = [dir.cni, dir.containerd, dir.registries, dir.staticPods];

/** Every folder of ours, outermost first: what is above is safe before what is below it is looked at. */
export const folderRules: readonly FolderRule[] = [
  { path: dir.k, access: 'programs', below: true },
  // The Go operator kept scripts there that its services ConfigMap has run; other files in it are not ours.
  { path: dir.temp, access: 'programs', below: false },
  ...['C:\\var', 'C:\\var\\lib', 'C:\\var\\lib\\kubelet', dir.log].map(shared),
  { path: dir.cniState, access: 'secret', below: false },
  ...programs.map(path => ({ path, access: 'programs', below: true }) as const),
  ...secrets.map(path => ({ path, access: 'secret', below: true }) as const),
];

/** Files with keys or tokens in folders where everyone may read. */
export const secretFiles: readonly string[] = [
  file.kubeconfig,
  file.bootstrapKubeconfig,
  file.agentKubeconfig,
  file.cloudNodeKubeconfig,
  file.cloudConfig,
];

const ruleKeys = new Set(folderRules.map(({ path }) => pathKey(path)));

export function hasRule(path: string): boolean {
  return ruleKeys.has(pathKey(path));
}

function shared(path: string): FolderRule {
  return { path, access: 'shared', below: false };
}
