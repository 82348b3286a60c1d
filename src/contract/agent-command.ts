import { dir, file } from './paths.ts';

/** Command lines the operator runs on a host. No quoting is needed: neither path nor version nor namespace has a blank. */

const credentials = (namespace: string) => `--kubeconfig ${file.agentKubeconfig} --namespace ${namespace}`;

/** Settings are kept where the host is configured again at once: their removal and return would take two reboots. */
export function cleanupCommand(
  namespace: string,
  settings: 'remove settings' | 'keep settings' = 'remove settings',
): string {
  return `${file.agent} cleanup ${credentials(namespace)}${settings === 'keep settings' ? ' --keep-settings' : ''}`;
}

export function bootstrapCommand(version: string, namespace: string): string {
  return `${file.agent} bootstrap --desired-version ${version} ${credentials(namespace)}`;
}

/** Commands of ours that the Go agent does not know. They need no cluster and answer with one JSON document. */
export const agentQuery = {
  inventory: `${file.agent} inventory -o json`,
  version: `${file.agent} version -o json`,
  enableContainers: `${file.agent} enable-containers -o json`,
} as const;

/** The inventory, with what the host sees of the API server at the address given. */
export function inventoryCommand(apiServerUrl: string): string {
  // What a shell could take for something else cannot be the address of an API server.
  const isPlain = /^https:\/\/[\w.:/[\]-]+$/.test(apiServerUrl);
  return isPlain ? `${file.agent} inventory --probe ${apiServerUrl} -o json` : agentQuery.inventory;
}

/** Makes or corrects the agent's own Windows service, and starts it. */
export function installCommand(namespace: string, logMegabytes?: number): string {
  const size = logMegabytes === undefined ? '' : ` --service-log-size ${logMegabytes}`;
  return `${file.agent} install --namespace ${namespace}${size} -o json`;
}

/** Takes an uploaded bundle, of which the whole must have the hash given. */
export function stageCommand(bundle: string, sha256: string): string {
  return `${file.agent} stage --bundle ${bundle} --sha256 ${sha256} -o json`;
}

/** Does nothing in any other boot than the one given, so that a command sent twice reboots once. */
export function rebootCommand(bootId: string, delaySeconds = 3): string {
  return `${file.agent} reboot --boot-id ${bootId} --delay ${delaySeconds}s -o json`;
}

export function renameCommand(hostName: string): string {
  return `${file.agent} rename --name ${hostName} -o json`;
}

/** The command line of the agent's Windows service. */
export function controllerCommand(namespace: string, logMegabytes?: number): string {
  const command = [
    file.agent,
    'controller --windows-service',
    `--log-dir ${dir.agentLog}`,
    `--namespace ${namespace}`,
    `--kubeconfig ${file.agentKubeconfig}`,
    `--cert-dir ${dir.agentCerts}`,
    '--cert-duration 1h',
    `--ca-bundle ${file.caBundle}`,
  ];
  if (logMegabytes !== undefined) command.push(`--log-file-max-size ${logMegabytes}`);
  return command.join(' ');
}

/** How Windows restarts the agent after a crash; Windows counts in milliseconds. */
export const agentRecovery = { resetSeconds: 300, restartDelaysMs: [10_000, 30_000, 60_000, 120_000] } as const;
