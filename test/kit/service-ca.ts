import { setTimeout as delay } from 'node:timers/promises';
import { toBase64 } from '../../src/base/bytes.ts';
import { exporterService, secretKey } from '../../src/contract/names.ts';
import { isAlreadyExists } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type Service, secrets, services } from '../../src/kube/resources.ts';
import { TestCa } from './certificates.ts';
import type { OtherOperators } from './winhost/real-doubles.ts';

const everyMs = 200;

/** The service CA of OpenShift on a real API server: a pair for each Service of the namespace that names a Secret for it. */
export function startServiceCa(client: Client, namespace: string): OtherOperators {
  const authority = new TestCa('openshift-service-serving-signer');
  const ending = new AbortController();
  const errors: string[] = [];
  const running = (async () => {
    while (!ending.signal.aborted) {
      await lookOnce(client, namespace, authority).catch((error: unknown) => errors.push(String(error)));
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    errors,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

async function lookOnce(client: Client, namespace: string, authority: TestCa): Promise<void> {
  const { items } = await client.list(services, { namespace });
  for (const service of items) {
    const name = service.metadata.annotations?.[exporterService.secretAnnotation];
    if (name !== undefined && (await client.find(secrets, name, { namespace })) === undefined)
      await issue(client, service, { namespace, name, authority });
  }
}

async function issue(
  client: Client,
  { metadata: { name: service = '', uid = '' } }: Service,
  { namespace, name, authority }: { namespace: string; name: string; authority: TestCa },
): Promise<void> {
  const dnsName = `${service}.${namespace}.svc`;
  const { cert, key } = authority.issue({ commonName: dnsName, names: [dnsName] });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Service', name: service, uid }];
  const data = { [secretKey.tlsCertificate]: toBase64(cert), [secretKey.tlsKey]: toBase64(key) };
  const secret = { metadata: { name, namespace, ownerReferences }, type: 'kubernetes.io/tls', data };
  await client.create(secrets, secret).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}
