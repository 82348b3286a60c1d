import { agentName, ports } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import type { ConfigureJourney } from './journey.ts';

/** For steps that only read and write objects of the cluster. */
export function checkCluster(): string {
  return 'Check the API server, and the log of the operator for requests that fail.';
}

/** For steps that run a command of the agent. */
export function checkCommand({ address }: ConfigureJourney): string {
  return (
    `Run \`Get-Process ${agentName}\` on ${address}; if the process hangs, end it with ` +
    `\`Stop-Process -Name ${agentName} -Force\`. The operator repeats the step.`
  );
}

export function checkUpload({ address }: ConfigureJourney): string {
  return `Check the network to ${address}, and on the host the free space of drive C: and its virus scanner.`;
}

export function checkConnection({ address, instance }: ConfigureJourney): string {
  const { port = ports.ssh } = instance.spec;
  return (
    `Check that ${address} is powered on, that TCP port ${port} is open from the cluster, ` +
    'and that `Get-Service sshd` on the host shows Running.'
  );
}

export function checkReboot({ address }: ConfigureJourney): string {
  return `Check the console of ${address} and power it on; the operator continues once the host answers.`;
}

export function checkRegistration({ nodeName }: ConfigureJourney): string {
  return (
    `Check the certificate requests of ${nodeName} and their events with \`kubectl get csr\`, and the log of the ` +
    `kubelet on the host in ${dir.kubeletLog}.`
  );
}

export function checkAgent({ nodeName }: ConfigureJourney): string {
  return (
    `Run \`kubectl describe node ${nodeName}\` and check its conditions and events; then check the logs in ` +
    `${dir.agentLog} on the host.`
  );
}
