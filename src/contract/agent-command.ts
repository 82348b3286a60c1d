import { dir, file } from './paths.ts';

/** Command lines the operator runs on a host. No quoting is needed: neither path nor version nor namespace has a blank. */

const credentials = (namespace: string) => `--kubeconfig ${file.agentKubeconfig} --namespace ${namespace}`;

export function cleanupCommand(namespace: string): string {
  return `${file.agent} cleanup ${credentials(namespace)}`;
}

export function bootstrapCommand(version: string, namespace: string): string {
  return `${file.agent} bootstrap --desired-version ${version} ${credentials(namespace)}`;
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
