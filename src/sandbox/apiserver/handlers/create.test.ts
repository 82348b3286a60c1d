import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { type Json, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';

const clock = manualClock(Date.parse('2026-03-04T05:06:07.890Z'));
const path = '/api/v1/namespaces/default/configmaps';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const metadataOf = (object: Json) => object['metadata'] as Record<string, unknown>;

test('dates an object by the clock, to the second', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'dated' } });
  expect(metadataOf(made)['creationTimestamp']).toBe('2026-03-04T05:06:07Z');
});

test('gives every object a uid and a version of its own', async () => {
  const made = await Promise.all(['u1', 'u2', 'u3'].map(name => sandbox.make(`POST ${path}`, { metadata: { name } })));
  expect(new Set(made.map(item => metadataOf(item)['uid'])).size).toBe(3);
  expect(new Set(made.map(item => metadataOf(item)['resourceVersion'])).size).toBe(3);
});

test('generates many names without a clash, none too long', async () => {
  const base = `${'x'.repeat(61)}-`;
  const made = await Promise.all(
    Array.from({ length: 50 }, () => sandbox.make(`POST ${path}`, { metadata: { generateName: base } })),
  );
  const names = made.map(item => String(metadataOf(item)['name']));
  expect(new Set(names).size).toBe(50);
  expect(names.every(name => name.length === 63 && name.startsWith(base.slice(0, 58)))).toBe(true);
});

test('prefers a name to a generated one', async () => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'chosen', generateName: 'other-' } });
  expect(metadataOf(made)).toMatchObject({ name: 'chosen', generateName: 'other-' });
});

test('forgets the namespace of an object that has none', async () => {
  const made = await sandbox.make('POST /api/v1/nodes', { metadata: { name: 'n', namespace: 'x' } });
  expect(metadataOf(made)).not.toHaveProperty('namespace');
});

test('starts the generation at 1 only for kinds that count it', async () => {
  const plain = await sandbox.make(`POST ${path}`, { metadata: { name: 'g', generation: 7 } });
  expect(metadataOf(plain)['generation']).toBe(7);
  const counted = await sandbox.make('POST /apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    metadata: { name: 'g', generation: 7 },
  });
  expect(metadataOf(counted)['generation']).toBe(1);
});

test('reports all problems at once', async () => {
  const { code, body } = await sandbox.send(`POST ${path}`, {
    metadata: { name: 'A', labels: { '-': '' } },
    data: { 'x y': '' },
  });
  expect(code).toBe(422);
  const { causes } = (body as { details: { causes: { field: string }[] } }).details;
  expect(causes.map(({ field }) => field)).toEqual(['metadata.name', 'metadata.labels', 'data[x y]']);
});

test('rejects before it stores', async () => {
  const before = sandbox.server.store.revision;
  await sandbox.send(`POST ${path}`, { metadata: { name: 'A' } });
  await sandbox.send(`POST ${path}?dryRun=All`, { metadata: { name: 'dry' } });
  await sandbox.send(`POST ${path}`, { metadata: { name: 'x' } }, { accept: 'text/html' });
  expect(sandbox.server.store.revision).toBe(before);
});

test('shows a new object in the form that was asked for', async () => {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'partial' }, data: { k: 'v' } }, { accept });
  expect(made).toMatchObject({ kind: 'Table', rows: [{ object: { metadata: { name: 'partial' } } }] });
});

test('looks into the namespace before it looks at the object', async () => {
  const { code } = await sandbox.send('POST /api/v1/namespaces/none/configmaps', { metadata: { name: 'A' } });
  expect(code).toBe(404);
});
