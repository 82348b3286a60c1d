import { expect, test } from 'vitest';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import type { Pod } from '../resources.ts';
import { evict, findPolicyVersion } from './eviction.ts';

const pod: Pod = {
  metadata: { name: 'web-1', namespace: 'ns', uid: 'u1' },
  spec: { terminationGracePeriodSeconds: 30 },
};
const discovery = (...resources: object[]) => ({ kind: 'APIResourceList', groupVersion: 'v1', resources });
const subresource = (version: string) => ({ name: 'pods/eviction', group: 'policy', version, kind: 'Eviction' });

for (const version of ['v1', 'v1beta1'] as const) {
  test(`finds that the server takes evictions of policy/${version}`, async () => {
    const api = new MemoryApi();
    api.paths.set('/api/v1', discovery({ name: 'pods' }, subresource(version)));
    expect(await findPolicyVersion(api)).toBe(version);
  });

  test(`asks for policy/${version}, for this very pod, with the pod's own grace period`, async () => {
    const api = new MemoryApi();
    api.before = () => ({});
    expect(await evict(api, pod, version, {})).toEqual({ is: 'accepted' });
    expect(api.calls).toEqual([
      {
        verb: 'create',
        resource: 'pods/eviction',
        name: 'web-1',
        namespace: 'ns',
        body: {
          apiVersion: `policy/${version}`,
          kind: 'Eviction',
          metadata: { name: 'web-1', namespace: 'ns' },
          deleteOptions: { preconditions: { uid: 'u1' } },
        },
      },
    ]);
  });
}

const strange: [string, unknown, string][] = [
  ['offers no eviction', discovery({ name: 'pods' }), 'undefined'],
  ['offers one we do not know', discovery(subresource('v2')), 'v2'],
  ['answers with something else', 'ok', 'undefined'],
  ['answers with no list', { resources: 'x' }, 'undefined'],
  ['answers with a strange list', { resources: [null, 'x', {}] }, 'undefined'],
];
for (const [name, answer, version] of strange) {
  test(`rejects a server that ${name}`, async () => {
    const api = new MemoryApi();
    api.paths.set('/api/v1', answer);
    await expect(findPolicyVersion(api)).rejects.toMatchObject({
      code: 'EVICTION_UNSUPPORTED',
      message: expect.stringContaining(version),
      remedy: expect.stringContaining('1.11'),
    });
  });
}

test('reports a failed discovery request', async () => {
  await expect(findPolicyVersion(new MemoryApi())).rejects.toMatchObject({ code: 404 });
});

test('a pod without a uid is evicted by its name', async () => {
  const api = new MemoryApi();
  api.before = () => ({});
  await evict(api, { metadata: { name: 'x', namespace: 'ns' } }, 'v1', {});
  expect(api.calls[0]?.body).not.toHaveProperty('deleteOptions');
});

const budget = { causes: [{ reason: 'DisruptionBudget', message: 'web needs 2 healthy pods' }] };
const ending = { causes: [{ reason: 'NamespaceTerminating', message: 'namespace ns is being terminated' }] };
const answers: [string, unknown, object][] = [
  ['404', refused(404, 'NotFound'), { is: 'gone' }],
  ['429', refused(429, 'TooManyRequests'), { is: 'later', message: 'TEST /things: refused: TooManyRequests' }],
  ['429 with a budget', refused(429, 'TooManyRequests', budget), { is: 'later', message: 'web needs 2 healthy pods' }],
  ['409', refused(409, 'Conflict'), { is: 'later' }],
  ['500, as for two budgets', refused(500, 'InternalError'), { is: 'later' }],
  ['503', refused(503, 'ServiceUnavailable'), { is: 'later' }],
  ['403', refused(403, 'Forbidden'), { is: 'refused', message: 'TEST /things: refused: Forbidden' }],
  ['403 in a namespace that ends', refused(403, 'Forbidden', ending), { is: 'later' }],
  ['422', refused(422, 'Invalid'), { is: 'refused' }],
  ['a broken connection', new Error('connection reset'), { is: 'later', message: 'Error: connection reset' }],
];
for (const [name, error, want] of answers) {
  test(`${name} means ${JSON.stringify(want)}`, async () => {
    const api = new MemoryApi();
    api.before = () => Promise.reject(error);
    expect(await evict(api, pod, 'v1', {})).toMatchObject(want);
  });
}

test('an abort is not a result', async () => {
  const abort = new AbortController();
  const api = new MemoryApi();
  api.before = () => {
    abort.abort(new Error('over'));
    throw new Error('request ended');
  };
  await expect(evict(api, pod, 'v1', { signal: abort.signal })).rejects.toThrow('over');
});
