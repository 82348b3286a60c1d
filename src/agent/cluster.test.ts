import { expect, test } from 'vitest';
import { ApiError } from '#kube/api-error.ts';
import { createManifestSource } from './cluster.ts';

const { signal } = new AbortController();

/** A source whose server gives this answer; with what was asked of it. */
function sourceOf(answer: unknown) {
  const asked: unknown[] = [];
  const get = async (_: unknown, name: string, { namespace }: { namespace?: string } = {}) => {
    asked.push([namespace, name]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, source: createManifestSource({ client: { get: get as never }, namespace: 'ns', signal }) };
}

test('asks for the one ConfigMap of the version, by its name', async () => {
  const object = { metadata: { name: 'windows-services-v1' } };
  const { asked, source } = sourceOf(object);
  expect(await source.servicesConfigMap('v1')).toBe(object);
  expect(asked).toEqual([['ns', 'windows-services-v1']]);
});

test('knows a ConfigMap that does not exist from one that may not be read', async () => {
  const refusal = (code: number, reason: string) => new ApiError({ code, reason, message: reason }, 'GET /');
  expect(await sourceOf(refusal(404, 'NotFound')).source.servicesConfigMap('v1')).toBeUndefined();
  await expect(sourceOf(refusal(403, 'Forbidden')).source.servicesConfigMap('v1')).rejects.toThrow('Forbidden');
});
