import { expect, test } from 'vitest';
import type { ApiError } from '../../src/kube/api-error.ts';
import type { Patch } from '../../src/kube/client.ts';
import { type ConfigMap, configMaps, namespaces, nodes, pods, secrets } from '../../src/kube/resources.ts';
import { services } from '../kit/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { adminClient, makeNamespace } from '../kit/cluster/shared-cluster.ts';

const client = adminClient();
const namespace = await makeNamespace(client, 'client');
const place = { namespace };
const map = (name: string, data: Record<string, string> = {}, labels = {}): ConfigMap => ({
  metadata: { name, namespace, labels },
  data,
});

test('reads the version of the server', async () => {
  expect(await client.raw('GET', '/healthz')).toBe('ok');
  expect(await client.raw('GET', '/version')).toMatchObject({ major: '1' });
});

test('creates, reads, replaces and deletes an object', async () => {
  const created = await client.create(configMaps, map('life', { a: 'Grüße €' }));
  expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'Grüße €' } });
  expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(await client.get(configMaps, 'life', place)).toEqual(created);
  const replaced = await client.replace(configMaps, { ...created, data: { b: '2' } });
  expect(replaced.data).toEqual({ b: '2' });
  expect(replaced.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
  await client.delete(configMaps, 'life', place);
  await expect(client.get(configMaps, 'life', place)).rejects.toMatchObject({ code: 404, reason: 'NotFound' });
});

test('supports generateName', async () => {
  const { metadata } = await client.create(configMaps, { metadata: { generateName: 'made-', namespace } });
  expect(metadata.name).toMatch(/^made-\w{5}$/);
});

const patches: [string, Patch, Record<string, string>][] = [
  ['merge', { type: 'merge', body: { data: { a: null, b: '2' } } }, { b: '2', keep: 'x' }],
  [
    'JSON',
    {
      type: 'json',
      body: [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'move', from: '/data/a', path: '/data/c' },
      ],
    },
    { c: '1', keep: 'x' },
  ],
  [
    'JSON, all other operations',
    {
      type: 'json',
      body: [
        { op: 'add', path: '/data/d', value: '4' },
        { op: 'replace', path: '/data/a', value: '5' },
        { op: 'copy', from: '/data/a', path: '/data/e' },
        { op: 'remove', path: '/data/keep' },
      ],
    },
    { a: '5', d: '4', e: '5' },
  ],
  ['strategic', { type: 'strategic', body: { data: { $patch: 'replace', z: '26' } } }, { z: '26' }],
];
for (const [name, patch, want] of patches) {
  test(`patches: ${name}`, async () => {
    const { metadata } = await client.create(configMaps, {
      metadata: { generateName: 'patch-', namespace },
      data: { a: '1', keep: 'x' },
    });
    const patched = await client.patch(configMaps, metadata.name ?? '', patch, place);
    expect(patched.data).toEqual(want);
  });
}

test('strategic patch merges lists by their keys', async () => {
  const ports = [
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ];
  await client.create(services, { metadata: { name: 'merge', namespace }, spec: { ports } });
  const body = {
    spec: {
      ports: [
        { port: 3, name: 'c' },
        { port: 1, $patch: 'delete' },
      ],
    },
  };
  const { spec } = await client.patch(services, 'merge', { type: 'strategic', body }, place);
  expect(spec?.ports?.map(port => port.name).sort()).toEqual(['b', 'c']);
});

const refusals: [string, () => Promise<unknown>, number, string][] = [
  ['an object that is not there', () => client.get(nodes, 'none'), 404, 'NotFound'],
  [
    'a kind that is not there',
    () => client.list({ group: 'none.example', version: 'v1', plural: 'nones', kind: 'None', namespaced: false }),
    404,
    'NotFound',
  ],
  [
    'a name that is taken',
    async () => {
      await client.create(configMaps, map('taken'));
      await client.create(configMaps, map('taken'));
    },
    409,
    'AlreadyExists',
  ],
  [
    'an old version',
    async () => {
      const old = await client.create(configMaps, map('old'));
      await client.replace(configMaps, { ...old, data: { a: '1' } });
      await client.replace(configMaps, old);
    },
    409,
    'Conflict',
  ],
  ['a name that is no name', () => client.create(configMaps, map('Not_A_Name')), 422, 'Invalid'],
  [
    'a field of the wrong type',
    () => client.create(configMaps, { metadata: { name: 'x', namespace }, data: 5 } as never),
    400,
    'BadRequest',
  ],
  [
    'a namespace that is not there',
    () => client.create(configMaps, { metadata: { name: 'x', namespace: 'none' } }),
    404,
    'NotFound',
  ],
  [
    'a namespace that is another',
    () => client.create(configMaps, { metadata: { name: 'x', namespace: 'default' } }, place),
    400,
    'BadRequest',
  ],
  [
    'a test in a patch that fails',
    async () => {
      await client.create(configMaps, map('tested'));
      await client.patch(
        configMaps,
        'tested',
        { type: 'json', body: [{ op: 'test', path: '/data', value: 'x' }] },
        place,
      );
    },
    422,
    'Invalid',
  ],
  [
    'a strategic patch of a custom resource',
    async () => {
      await client.create(machines, { metadata: { name: 'm', namespace } });
      await client.patch(machines, 'm', { type: 'strategic', body: {} }, place);
    },
    415,
    'UnsupportedMediaType',
  ],
  ['a method that a path does not have', () => client.raw('POST', '/version', { body: {} }), 405, 'MethodNotAllowed'],
  ['a selector that is none', () => client.list(configMaps, { ...place, labelSelector: 'a=(' }), 400, 'BadRequest'],
  [
    'a change of an immutable object',
    async () => {
      await client.create(configMaps, { ...map('fixed', { a: '1' }), immutable: true });
      await client.patch(configMaps, 'fixed', { type: 'merge', body: { data: { a: '2' } } }, place);
    },
    422,
    'Invalid',
  ],
  [
    'a precondition that does not hold',
    async () => {
      await client.create(configMaps, map('guarded'));
      await client.delete(configMaps, 'guarded', { ...place, preconditions: { uid: 'another' } });
    },
    409,
    'Conflict',
  ],
];
for (const [name, call, code, reason] of refusals) {
  test(`rejects ${name} with ${code} ${reason}`, async () => {
    const error = (await call().catch((thrown: unknown) => thrown)) as ApiError;
    expect(error).toMatchObject({ name: 'ApiError', code });
    // Some servers omit the reason of a 405.
    if (code !== 405) expect(error.reason).toBe(reason);
    expect(error.message).toMatch(/^(GET|POST|PUT|PATCH|DELETE) \//);
  });
}

test('names invalid fields', async () => {
  const error = await client
    .create(services, { metadata: { name: 'bad', namespace }, spec: { ports: [{ port: 99_999 }] } })
    .catch((thrown: ApiError) => thrown);
  expect((error as ApiError).details.causes?.map(cause => cause.field)).toContain('spec.ports[0].port');
});

test('deletes only with matching preconditions', async () => {
  const { metadata } = await client.create(configMaps, map('meant'));
  await client.delete(configMaps, 'meant', {
    ...place,
    preconditions: { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' },
  });
  await expect(client.get(configMaps, 'meant', place)).rejects.toMatchObject({ code: 404 });
});

test('an object with a finalizer stays until it is removed', async () => {
  await client.create(configMaps, { metadata: { name: 'held', namespace, finalizers: ['example.com/hold'] } });
  await client.delete(configMaps, 'held', place);
  expect((await client.get(configMaps, 'held', place)).metadata.deletionTimestamp).toBeDefined();
  await client.patch(configMaps, 'held', { type: 'merge', body: { metadata: { finalizers: null } } }, place);
  await expect(client.get(configMaps, 'held', place)).rejects.toMatchObject({ code: 404 });
});

test('paged lists equal full lists, by label and by field', async () => {
  await Promise.all(
    Array.from({ length: 25 }, (_, n) =>
      client.create(secrets, { metadata: { name: `page-${n}`, namespace, labels: { page: String(n % 2) } } }),
    ),
  );
  const selector = { ...place, labelSelector: 'page' };
  const whole = await client.list(secrets, selector);
  const paged = await client.listAll(secrets, { ...selector, limit: 4 });
  expect(whole.items).toHaveLength(25);
  expect(paged.items).toEqual(whole.items);
  expect(paged.metadata.continue).toBeUndefined();
  const page = await client.list(secrets, { ...selector, limit: 10 });
  expect([page.items.length, page.metadata.continue !== '']).toEqual([10, true]);
  const rest = await client.list(secrets, { ...selector, limit: 20, continue: page.metadata.continue ?? '' });
  expect([...page.items, ...rest.items]).toEqual(whole.items);
  expect((await client.listAll(secrets, { ...place, fieldSelector: 'metadata.name=page-7' })).items).toHaveLength(1);
  expect((await client.listAll(secrets, { labelSelector: 'page=1' })).items).toHaveLength(12);
});

test('omits managedFields only from lists', async () => {
  const { metadata } = await client.create(configMaps, map('managed', { a: '1' }));
  expect(metadata).toHaveProperty('managedFields');
  const { items } = await client.list(configMaps, { ...place, fieldSelector: 'metadata.name=managed' });
  expect(items[0]?.metadata.name).toBe('managed');
  expect(items[0]?.metadata).not.toHaveProperty('managedFields');
});

test('lists custom resources in pages', async () => {
  await Promise.all(
    Array.from({ length: 7 }, (_, n) =>
      client.create(machines, { metadata: { name: `cr-${n}`, namespace, labels: { cr: '1' } } }),
    ),
  );
  const { items } = await client.listAll(machines, { ...place, labelSelector: 'cr', limit: 3 });
  expect(items.map(item => item.metadata.name)).toEqual(Array.from({ length: 7 }, (_, n) => `cr-${n}`));
});

test('500 requests at once all succeed', async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, () => client.get(namespaces, namespace)));
  expect(new Set(answers.map(answer => answer.metadata.name))).toEqual(new Set([namespace]));
});

test('writes and reads a large object', async () => {
  const text = 'ü€'.repeat(180_000);
  await client.create(configMaps, map('large', { text }));
  expect((await client.get(configMaps, 'large', place)).data?.text).toBe(text);
});

test('deletes dependents by propagation policy', async () => {
  const owner = await client.create(configMaps, map('owner'));
  const { uid = '', name = '' } = owner.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
  // The same kind as its owner, because the collector may discover other kinds late.
  await client.create(configMaps, { metadata: { name: 'orphan', namespace, ownerReferences } });
  await client.delete(configMaps, 'owner', { ...place, propagationPolicy: 'Orphan' });
  await expect
    .poll(async () => (await client.get(configMaps, 'orphan', place)).metadata.ownerReferences ?? [])
    .toEqual([]);
});

test('reads pods that do not run', async () => {
  await client.create(pods, {
    metadata: { name: 'idle', namespace },
    spec: { containers: [{ name: 'a', image: 'b' }] },
  });
  expect((await client.get(pods, 'idle', place)).status).toMatchObject({ phase: 'Pending' });
  await client.delete(pods, 'idle', { ...place, gracePeriodSeconds: 0 });
});
