import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { keyOf, type KubeResource } from '#kube/resource.ts';
import { configMaps, namespaces, serviceAccounts } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import type { Change, Controller, LocalApi } from '../ports.ts';
import { createController } from './worker.ts';

/** The namespaces every cluster has. */
const always = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const defaultAccount = 'default';
const rootCaName = 'kube-root-ca.crt';

/** Makes the namespaces every cluster has, and in each namespace the default account and the CA certificate (PEM). */
export function createNamespaceDefaults(caCertificate: string, log?: Log): Controller {
  return createController(
    {
      name: 'namespace-defaults',
      begin: api => [...always.map(name => ({ namespace: '', name })), ...api.list(namespaces).map(keyOf)],
      affected: change => affectedNamespaces(change).map(name => ({ namespace: '', name })),
      reconcile: ({ name }, api) => {
        fill(name, caCertificate, api);
        return undefined;
      },
    },
    log,
  );
}

function affectedNamespaces({ resource, type, object }: Change): string[] {
  const { name = '', namespace = '' } = object.metadata;
  if (isKind(resource, namespaces)) return [name];
  if (isKind(resource, serviceAccounts) && name === defaultAccount && type === 'DELETED') return [namespace];
  return isKind(resource, configMaps) && name === rootCaName && type !== 'ADDED' ? [namespace] : [];
}

function fill(namespace: string, caCertificate: string, api: LocalApi): void {
  const found = api.get(namespaces, { namespace: '', name: namespace });
  if (found === undefined && always.includes(namespace)) api.create(namespaces, { metadata: { name: namespace } });
  else if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  if (api.get(serviceAccounts, { namespace, name: defaultAccount }) === undefined) {
    api.create(serviceAccounts, { metadata: { namespace, name: defaultAccount } });
  }
  publishCa(namespace, caCertificate, api);
}

function publishCa(namespace: string, caCertificate: string, api: LocalApi): void {
  const data = { 'ca.crt': caCertificate };
  const found = api.get(configMaps, { namespace, name: rootCaName });
  if (found === undefined) {
    const created: KubeResource & { data: typeof data } = { metadata: { namespace, name: rootCaName }, data };
    api.create(configMaps, created);
  } else if (!sameData(found['data'], data)) api.replace(configMaps, { ...found, data } as KubeResource);
}
