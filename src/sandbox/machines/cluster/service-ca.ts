import { toBase64 } from '#base/bytes.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { exporterService, secretKey } from '#contract/names.ts';
import { keyOf } from '#kube/resource.ts';
import { type SecretObject, secrets, services } from '#kube/resources.ts';
import { type CertificateAuthority, createAuthority, issueServerPair } from '../../apiserver/auth/ca.ts';
import { isKind } from '../../apiserver/auth/is-kind.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';

const serviceUid = 'service.beta.openshift.io/originating-service-uid';
const serviceName = 'service.beta.openshift.io/originating-service-name';
const [errorAnnotation] = exporterService.errorAnnotations;

/** The service CA of OpenShift: issues a serving pair for each Service that names a Secret for it. */
export function createServiceCa(clock: Clock, log?: Log): Controller {
  const authority = createAuthority('openshift-service-serving-signer', clock);
  return createController(
    {
      name: 'service-ca',
      resource: services,
      affected: ({ resource, object }, api) => (isKind(resource, secrets) ? servicesOf(object, api).map(keyOf) : []),
      reconcile: (key, api) => {
        const service = api.get(services, key);
        const name = service?.metadata.annotations?.[exporterService.secretAnnotation];
        if (service !== undefined && name !== undefined) issue(service, name, { api, authority, clock });
      },
    },
    log,
  );
}

interface IssueDeps {
  api: LocalApi;
  authority: CertificateAuthority;
  clock: Clock;
}

/** A Secret of another owner is never replaced; the Service gets an annotation instead. */
function issue(service: StoredObject, name: string, { api, authority, clock }: IssueDeps): void {
  const { namespace = '', uid = '', name: own = '', annotations = {} } = service.metadata;
  const found = api.get(secrets, { namespace, name });
  if (found?.metadata.annotations?.[serviceUid] === uid) return;
  if (found !== undefined) {
    const error = `secret ${namespace}/${name} does not have corresponding service UID ${uid}`;
    if (annotations[errorAnnotation] === error) return;
    annotate(service, { ...annotations, [errorAnnotation]: error }, api);
    return;
  }
  const dnsName = `${own}.${namespace}.svc`;
  const { certificate, key } = issueServerPair(authority, [dnsName, `${dnsName}.cluster.local`], clock);
  const secret: SecretObject = {
    metadata: {
      name,
      namespace,
      annotations: { [serviceUid]: uid, [serviceName]: own },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: own, uid }],
    },
    type: 'kubernetes.io/tls',
    data: { [secretKey.tlsCertificate]: toBase64(certificate), [secretKey.tlsKey]: toBase64(key) },
  };
  api.create(secrets, secret);
  const { [errorAnnotation]: _, ...kept } = annotations;
  annotate(service, kept, api);
}

function annotate(service: StoredObject, annotations: Record<string, string>, api: LocalApi): void {
  api.replace(services, { ...service, metadata: { ...service.metadata, annotations } });
}

/** The Services that name this Secret. */
function servicesOf({ metadata: { namespace, name } }: StoredObject, api: LocalApi): StoredObject[] {
  const all = api.list(services, namespace);
  return all.filter(({ metadata }) => metadata.annotations?.[exporterService.secretAnnotation] === name);
}
