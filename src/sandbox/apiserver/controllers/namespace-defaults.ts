import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import type { KubeResource } from '#kube/resource.ts';
import { configMaps, namespaces, serviceAccounts } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import type { Change, Controller, LocalApi } from '../ports.ts';
import { createController } from './worker.ts';

/** Namespaces that every cluster has. */
export const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];
const defaultAccount = 'default';
const rootCaName = 'kube-root-ca.crt';

/** Creates the default ServiceAccount and the CA ConfigMap (PEM) in every namespace. */
export function createNamespaceDefaults(caCertificate: string, log?: Log): Controller {
  return createController(
    {
      name: 'namespace-defaults',
      resource: namespaces,
      affected: change =>
        isDefaultObject(change) ? [{ namespace: '', name: change.object.metadata.namespace ?? '' }] : [],
      reconcile: ({ name }, api) => fill(name, caCertificate, api),
    },
    log,
  );
}

function isDefaultObject({ resource, type, object }: Change): boolean {
  const { name } = object.metadata;
  if (isKind(resource, serviceAccounts)) return name === defaultAccount && type === 'DELETED';
  return isKind(resource, configMaps) && name === rootCaName && type !== 'ADDED';
}

function fill(namespace: string, caCertificate: string, api: LocalApi): void {
  const found = api.get(namespaces, { namespace: '', name: namespace });
  if (found === undefined && systemNamespaces.includes(namespace))
    api.create(namespaces, { metadata: { name: namespace } });
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
