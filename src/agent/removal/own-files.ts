import { parentOf, pathKey } from '#contract/host-path.ts';
import { activationFile, dir, file, requiredDirectories } from '#contract/paths.ts';
import { folderRules } from '../access/folders.ts';
import { reportedFile } from '../activation/report-file.ts';
import { acceptedFile } from '../accepted.ts';
import { knownGoodFile } from '../known-good.ts';
import { scriptCacheFile } from '../services/cached-scripts.ts';
import { lastStagedFile, noteName } from '../stage/change-notes.ts';
import { isSetRecord } from '../stage/record.ts';

/** What operator, agent and their services create on a host, by name: files of users beside them are never removed. */

const kubelet = 'C:\\var\\lib\\kubelet';
const kubeletPki = `${kubelet}\\pki`;

/** Programs of the payload that no other list has; hosts of the Go operator have no record of them. */
const programs = [
  `${dir.k}\\ecr-credential-provider.exe`,
  `${dir.containerd}\\containerd-shim-runhcs-v1.exe`,
  ...['host-local', 'win-bridge', 'win-overlay'].map(name => `${dir.cni}\\${name}.exe`),
];

/** Scripts of the Go operator; on hosts that it has never configured, files of these names belong to users. */
export const earlierScripts: readonly string[] = [
  'gcp-get-hostname.ps1',
  'windows-defender-exclusion.ps1',
  'hns.psm1',
  'network-conf.ps1',
].map(name => `${dir.temp}\\${name}`);

const kubeletState = ['cpu_manager_state', 'memory_manager_state', 'allocated_pods_state', 'actuated_pods_state'].map(
  name => `${kubelet}\\${name}`,
);

/** Without logs, which stay, and without records, which are removed last. */
export const ownFiles: readonly string[] = [
  ...Object.values(file).filter(path => !isBelow(path, dir.log) && !isSetRecord(path)),
  ...programs,
  ...kubeletState,
  knownGoodFile,
  acceptedFile,
  lastStagedFile,
  scriptCacheFile,
  activationFile,
  reportedFile,
];

export interface NamePattern {
  directory: string;
  name: RegExp;
}

/** Files with names that change. */
export const ownPatterns: readonly NamePattern[] = [
  { directory: dir.agentCerts, name: /^(wicd-client|cloud-node)-.+\.pem$/i },
  { directory: dir.staged, name: /^[0-9a-f]{64}(\.zst)?$/i },
  { directory: dir.staged, name: noteName },
  { directory: dir.incoming, name: /^[0-9a-f]{64}(\.part)?$/i },
  { directory: dir.cniConfig, name: /^ovnkube-client-.+\.pem$/i },
  { directory: kubeletPki, name: /^kubelet[.-].*(pem|crt|key)$/i },
];

/** Unfinished files and programs that were moved aside, in every folder of the operator. */
export const leftoverName = /\.\d+-\d+\.wicd-new$|\.wicd-old-\d+$/i;

/** Folders of registries have any name, and only this file of the operator. */
export const registryFile = 'hosts.toml';

/**
 * Emptied, whatever is in them. The kubelet stores Secrets and tokens of pods there in plain text, and CNI the addresses
 * of containers.
 */
export const ownTrees: readonly string[] = [
  dir.cniState,
  ...['pods', 'plugins', 'plugins_registry', 'device-plugins'].map(name => `${kubelet}\\${name}`),
];

/** Removed when they are empty, the innermost first. */
export const ownFolders: readonly string[] = foldersOf([
  ...folderRules.map(({ path }) => path),
  ...requiredDirectories,
  dir.tlsCerts,
  kubeletPki,
  ...ownTrees,
]);

export function isBelow(path: string, directory: string): boolean {
  return pathKey(path).startsWith(`${pathKey(directory)}\\`);
}

/** With their parents, each once, the innermost first. */
function foldersOf(paths: readonly string[]): string[] {
  const all = new Map<string, string>();
  for (const path of paths) {
    for (let at = path; at.includes('\\'); at = parentOf(at)) all.set(pathKey(at), at);
  }
  return [...all.values()].toSorted((one, other) => other.split('\\').length - one.split('\\').length);
}
