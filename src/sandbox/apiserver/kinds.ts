import type { Kind } from './kind.ts';
import { daemonSet, deployment, replicaSet } from './kinds/apps.ts';
import { certificateSigningRequest } from './kinds/certificates.ts';
import { configMap, secret } from './kinds/config.ts';
import { endpoints, event, namespace, serviceAccount } from './kinds/core.ts';
import { crdKind } from './kinds/crd.ts';
import { node } from './kinds/node.ts';
import { pod } from './kinds/pod.ts';
import { podDisruptionBudget } from './kinds/policy.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from './kinds/rbac.ts';
import { service } from './kinds/service.ts';
import { lease } from './kinds/small.ts';

const builtIn: readonly Kind[] = [
  configMap,
  endpoints,
  event,
  namespace,
  node,
  pod,
  secret,
  serviceAccount,
  service,
  daemonSet,
  deployment,
  replicaSet,
  certificateSigningRequest,
  podDisruptionBudget,
  clusterRoleBinding,
  clusterRole,
  roleBinding,
  role,
  lease,
  crdKind,
];

/** All kinds in the order of discovery. */
export class Kinds {
  /** By CRD name. */
  readonly #custom = new Map<string, readonly Kind[]>();
  #all: readonly Kind[] = builtIn;

  all(): readonly Kind[] {
    return this.#all;
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#all.find(kind => kind.plural === plural && kind.group === group && kind.version === version);
  }

  /** The kind of a storage key, in its storage version. */
  byStorageKey(storageKey: string): Kind | undefined {
    const kinds = this.#all.filter(kind => kind.storageKey === storageKey);
    return kinds.find(kind => kind.stores) ?? kinds[0];
  }

  setCustom(crd: string, kinds: readonly Kind[]): void {
    if (kinds.length === 0) this.#custom.delete(crd);
    else this.#custom.set(crd, kinds);
    this.#all = [...builtIn, ...[...this.#custom.values()].flat()];
  }
}
