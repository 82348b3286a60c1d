import { agentName, nodeAnnotation, ports } from '#contract/names.ts';
import { overlayRemedy } from '#contract/overlay-remedy.ts';
import { dir, file } from '#contract/paths.ts';
import type { HostJourney } from '../host-journey.ts';

/** For steps that only read and write objects of the cluster. */
export function checkCluster(): string {
  return 'Check the API server, and the log of the operator for requests that fail.';
}

/** Programs are packed once for all hosts. */
export function checkPayload(): string {
  return 'Check the log of the operator, and CPU and disk of its pod: it packs the programs once for all hosts.';
}

/** For steps that run a command of the agent. */
export function checkCommand({ address }: HostJourney): string {
  return (
    `Run \`Get-Process ${agentName}\` on ${address}; if the process hangs, end it with ` +
    `\`Stop-Process -Name ${agentName} -Force\`. The operator repeats the step.`
  );
}

export function checkUpload({ address }: HostJourney): string {
  return `Check the network to ${address}, and on the host the free space of drive C: and its virus scanner.`;
}

export function checkConnection({ address, instance }: HostJourney): string {
  const { port = ports.ssh } = instance.spec;
  return (
    `Check that ${address} is powered on, that TCP port ${port} is open from the cluster, ` +
    'and that `Get-Service sshd` on the host shows Running.'
  );
}

/** Before the reboot is requested, the Node is drained. */
export function checkReboot(journey: HostJourney): string {
  const { address, record } = journey;
  if (record.reboot === undefined) return checkPods(journey);
  return (
    `Power ${address} on, or find on its console why Windows does not start; ` +
    'the operator continues once the host answers.'
  );
}

export function checkPods({ nodeName }: HostJourney): string {
  return (
    `Run \`kubectl get pods -A --field-selector spec.nodeName=${nodeName}\` and \`kubectl get pdb -A\`: ` +
    'pods that cannot be evicted block the drain of the Node.'
  );
}

export function checkRegistration({ nodeName }: HostJourney): string {
  return (
    `Run \`kubectl get csr\`, and \`kubectl describe csr NAME\` for pending requests of ${nodeName}. On the host, run ` +
    `\`Get-Content ${file.kubeletLog} -Tail 20\` and, if the kubelet hangs, \`Restart-Service -Force kubelet\`.`
  );
}

/** The agent waits for the pod subnet, which only the cluster can assign. */
export function checkAgent({ nodeName, node }: HostJourney): string {
  if (node !== undefined && !Object.hasOwn(node.annotations, nodeAnnotation.hybridOverlaySubnet)) return overlayRemedy;
  return (
    `Follow the last event of the agent. If it names no problem, run \`kubectl describe node ${nodeName}\` to see why ` +
    `the Node is not ready, and read ${file.kubeletLog} and ${dir.agentLog} on the host. Restart programs that hang with ` +
    `\`Restart-Service -Force kubelet, ${agentName}\`.`
  );
}
