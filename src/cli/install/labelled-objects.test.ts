import { expect, test } from 'vitest';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { clusterRoles } from '#kube/resources.ts';
import { listLabelled } from './labelled-objects.ts';

const { signal } = new AbortController();
const list = (raw: (path: string) => unknown) =>
  listLabelled({ raw: async (_method: string, path: string) => raw(path) } as unknown as Client, clusterRoles, signal);
const names = Array.from({ length: 1200 }, (_, index) => `role-${index}`);

test('objects of clusters with many Windows nodes are all listed', async () => {
  const page = (path: string) => {
    const query = new URL(path, 'https://api').searchParams;
    const [start, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))];
    const end = start + limit;
    const items = names.slice(start, end).map(name => ({ metadata: { name } }));
    return { apiVersion: 'v1', items, metadata: end < names.length ? { continue: String(end) } : {} };
  };
  expect((await list(page)).map(({ metadata }) => metadata.name)).toEqual(names);
});

const refusals: [code: number, want: 'empty' | 'an error'][] = [
  [404, 'empty'],
  [403, 'an error'],
];
for (const [code, want] of refusals) {
  test(`answer ${code} is ${want}`, async () => {
    const found = list(() => {
      throw new ApiError({ code, message: 'refused' }, 'GET /x');
    });
    await (want === 'empty' ? expect(found).resolves.toEqual([]) : expect(found).rejects.toThrow('refused'));
  });
}
