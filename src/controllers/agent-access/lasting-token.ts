import { agentName, secretName } from '#contract/names.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import type { SecretObject } from '#kube/resources.ts';

/** The Secret with the token that all agents of the Go operator share, and that never expires. */

export const lastingTokenPermission: Permission = {
  in: 'own namespace',
  group: '',
  resources: ['secrets'],
  verbs: [...reading, 'delete'],
  names: [secretName.agentToken],
};

/** Another Secret of this name belongs to a user. */
export function isLastingToken({ type, metadata }: Pick<SecretObject, 'type' | 'metadata'>): boolean {
  const account = metadata.annotations?.['kubernetes.io/service-account.name'];
  return type === 'kubernetes.io/service-account-token' && account === agentName;
}
