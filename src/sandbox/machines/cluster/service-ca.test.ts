import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { textFromBase64 } from '#base/bytes.ts';
import { systemClock } from '#base/clock.ts';
import { exporterService } from '#contract/names.ts';
import { type SecretObject, type Service, secrets, services } from '#kube/resources.ts';
import { quiet } from '../../../../test/kit/local-api.ts';
import { startOpenshiftApi } from '../../../../test/kit/openshift-api.ts';
import { createServiceCa } from './service-ca.ts';

const namespace = 'default';
const key = { namespace, name: 'pair' };
const [error] = exporterService.errorAnnotations;
const service = (annotations: Record<string, string> = { [exporterService.secretAnnotation]: 'pair' }): Service => ({
  metadata: { name: 'web', namespace, annotations },
  spec: { ports: [{ port: 9182 }] },
});

async function begin() {
  const api = await startOpenshiftApi([createServiceCa(systemClock)]);
  const secret = (): SecretObject | undefined => api.get(secrets, key);
  const annotations = () => api.get(services, { namespace, name: 'web' })?.metadata.annotations ?? {};
  return { api, secret, annotations, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test('issues a pair for a Service that names a Secret, owned by the Service', async () => {
  await using made = await begin();
  const { uid } = made.api.create(services, service()).metadata;
  await quiet(made.api);
  expect(made.secret()).toMatchObject({ type: 'kubernetes.io/tls', metadata: { ownerReferences: [{ uid }] } });
  const certificate = new X509Certificate(textFromBase64(made.secret()?.data?.['tls.crt'] ?? '') ?? '');
  expect(certificate.checkHost('web.default.svc')).toBe('web.default.svc');
});

test('ignores other Services', async () => {
  await using made = await begin();
  made.api.create(services, service({}));
  await quiet(made.api);
  expect(made.secret()).toBeUndefined();
});

test('issues the pair again when it is deleted', async () => {
  await using made = await begin();
  made.api.create(services, service());
  await quiet(made.api);
  made.api.delete(secrets, key);
  await quiet(made.api);
  expect(made.secret()).toBeDefined();
});

test('leaves the Secret of another owner alone and says so on the Service', async () => {
  await using made = await begin();
  made.api.create(secrets, { metadata: { name: 'pair', namespace } });
  made.api.create(services, service());
  await quiet(made.api);
  expect(made.secret()?.data).toBeUndefined();
  expect(made.annotations()[error]).toContain('does not have corresponding service UID');
  made.api.delete(secrets, key);
  await quiet(made.api);
  expect(made.secret()?.data).toHaveProperty('tls.crt');
  expect(made.annotations()[error]).toBeUndefined();
});
