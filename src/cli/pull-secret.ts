import type { Secret } from '#base/secret.ts';
import { namespaceName, secretKey, secretName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { secretData, secretMember } from '#contract/secret-data.ts';
import { find } from './find.ts';

export const pullSecretName = { kind: 'Secret', name: secretName.pullSecret, namespace: namespaceName.config };

/** Registry credentials of the cluster; undefined when they are not in the input. */
export function pullSecretFrom(objects: readonly KubeObject[]): Secret | undefined {
  const secret = find(objects, pullSecretName);
  return secret && secretMember(secretData(secret), secretKey.dockerConfig, secret.label);
}
