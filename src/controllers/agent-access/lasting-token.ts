import { deleteObject } from '#cluster/delete-object.ts';
import { agentName, secretName } from '#contract/names.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Pass } from '#kube/controller/reconcile.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type SecretObject, secrets } from '#kube/resources.ts';

export const lastingTokenPermission: Permission = {
  in: 'own namespace',
  group: '',
  resources: ['secrets'],
  verbs: [...reading, 'delete'],
  names: [secretName.agentToken],
};

/** The Secret with the token that all agents of the Go operator share, and that never expires. */
export function lastingTokenInformer({
  informers,
  namespace,
}: Pick<ControllerParts, 'informers' | 'namespace'>): Informer<SecretObject> {
  return informers.get(secrets, { namespace, fieldSelector: `metadata.name=${secretName.agentToken}` });
}

/** With the Secret, the API server forgets the token, wherever it is. */
export async function removeLastingToken(
  source: Pick<Informer<SecretObject>, 'store'>,
  { client, installation }: Pick<ControllerParts, 'client'> & InstallationPart,
  { log, signal }: Pass,
): Promise<void> {
  const [found] = source.store.list();
  if (found === undefined || !isLastingToken(found)) return;
  // Nodes keep running when the operator is uninstalled.
  if ((await installation.problem(signal)) !== undefined) return;
  log.info('Deleting the lasting token of agents: none needs it', { Secret: found.metadata.name });
  await deleteObject(client, secrets, found, signal);
}

interface InstallationPart {
  installation: { problem(signal: AbortSignal): Promise<string | undefined> };
}

/** Another Secret of this name belongs to a user. */
export function isLastingToken({ type, metadata }: Pick<SecretObject, 'type' | 'metadata'>): boolean {
  const account = metadata.annotations?.['kubernetes.io/service-account.name'];
  return type === 'kubernetes.io/service-account-token' && account === agentName;
}
