import { configMapName, secretKey, secretName } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { configMaps, secrets } from '#kube/resources.ts';

interface StepsDeps {
  client: Pick<Client, 'find'>;
  namespace: string;
  signal: AbortSignal;
  command: string;
}

/** What the operator still needs before the first host joins. */
export async function nextSteps({ client, namespace, signal, command }: StepsDeps): Promise<string[]> {
  const place = { namespace, signal };
  const key = await client.find(secrets, secretName.privateKey, place);
  const entries = await client.find(configMaps, configMapName.instances, place);
  const namespaceFlag = `-n ${namespace}`;
  const missing = [
    ...(key === undefined
      ? [
          'The private key for SSH to the hosts:',
          `  kubectl create secret generic ${secretName.privateKey} -n ${namespace} --from-file=${secretKey.privateKey}=FILE`,
        ]
      : []),
    ...(entries === undefined
      ? [
          'The first host, by address or DNS name, with its Windows user (hosts of Machines need no entry):',
          `  ${command} prepare-host ${namespaceFlag} > prepare-host.ps1    # run it on the host first`,
          `  kubectl create configmap ${configMapName.instances} -n ${namespace} --from-literal=10.0.0.5=username=Administrator`,
        ]
      : []),
  ];
  return [
    ...(missing.length === 0 ? [] : ['Next:', ...missing]),
    `To follow the hosts, run \`${command} status -w ${namespaceFlag}\`.`,
  ];
}
