import { expect, test } from 'vitest';
import { ApiError } from '#kube/api-error.ts';
import { createManifestSource } from './cluster.ts';

const { signal } = new AbortController();

/** A source whose server gives this answer; with what was asked of it. */
function sourceOf(answer: unknown) {
  const asked: unknown[] = [];
  const find = async (_: unknown, name: string, { namespace }: { namespace?: string } = {}) => {
    asked.push([namespace, name]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, source: createManifestSource({ client: { find: find as never }, namespace: 'ns', signal }) };
}

test('asks for the one ConfigMap of the version, by its name', async () => {
  const object = { metadata: { name: 'windows-services-v1' } };
  const { asked, source } = sourceOf(object);
  expect(await source.servicesConfigMap('v1')).toBe(object);
  expect(asked).toEqual([['ns', 'windows-services-v1']]);
});

test('a ConfigMap that is missing is none, one that may not be read is an error', async () => {
  expect(await sourceOf(undefined).source.servicesConfigMap('v1')).toBeUndefined();
  const refusal = new ApiError({ code: 403, reason: 'Forbidden', message: 'Forbidden' }, 'GET /');
  await expect(sourceOf(refusal).source.servicesConfigMap('v1')).rejects.toThrow('Forbidden');
});
