import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { type Json, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';

const clock = manualClock(Date.parse('2026-03-04T05:06:00Z'));
const path = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const metadataOf = (object: Json) => object['metadata'] as Record<string, unknown>;
const pod = (name: string, spec: Json = {}, metadata: Json = {}) =>
  sandbox.make(`POST ${pods}`, {
    metadata: { name, ...metadata },
    spec: { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }], ...spec },
  });
const codeOf = async (request: string) => (await sandbox.send(request)).code;

const policies: [string, string[], Json, string[] | undefined][] = [
  ['no policy', [], {}, undefined],
  ['Background', [], { propagationPolicy: 'Background' }, undefined],
  ['Orphan', [], { propagationPolicy: 'Orphan' }, ['orphan']],
  ['no policy and a finalizer', ['a.b/c'], {}, ['a.b/c']],
  ['Orphan and a finalizer', ['a.b/c'], { propagationPolicy: 'Orphan' }, ['a.b/c', 'orphan']],
  ['Background instead of what it has', ['orphan'], { propagationPolicy: 'Background' }, undefined],
  ['no policy and what it has', ['orphan'], {}, ['orphan']],
];
test.each(policies)('deletes with %s', async (name, finalizers, options, wanted) => {
  const id = name.replaceAll(' ', '-').toLowerCase();
  await sandbox.make(`POST ${path}`, { metadata: { name: id, finalizers } });
  const answer = await sandbox.make(`DELETE ${path}/${id}`, options);
  if (wanted === undefined) {
    expect(answer).toMatchObject({ kind: 'Status', status: 'Success' });
    expect(await codeOf(`GET ${path}/${id}`)).toBe(404);
  } else {
    expect(metadataOf(answer)).toMatchObject({ finalizers: wanted, deletionGracePeriodSeconds: 0 });
    expect(metadataOf(answer)['deletionTimestamp']).toBe('2026-03-04T05:06:00Z');
  }
});

test('changes the policy of an object that is going already', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'again' } });
  const first = await sandbox.make(`DELETE ${path}/again`, { propagationPolicy: 'Orphan' });
  expect(metadataOf(first)['finalizers']).toEqual(['orphan']);
  await sandbox.make(`DELETE ${path}/again`, { propagationPolicy: 'Background' });
  expect(await codeOf(`GET ${path}/again`)).toBe(404);
});

test('counts a deletion that waits as a change of what is wanted', async () => {
  await sandbox.make(`POST ${budgets}`, { metadata: { name: 'g', finalizers: ['a.b/c'] }, spec: {} });
  expect(metadataOf(await sandbox.make(`DELETE ${budgets}/g`))['generation']).toBe(2);
  expect(metadataOf(await sandbox.make(`DELETE ${budgets}/g`))['generation']).toBe(2);
});

const graces: [string, Json, Json | undefined, number][] = [
  ['its own time', {}, undefined, 30],
  ['the time asked for', {}, { gracePeriodSeconds: 7 }, 7],
  ['more time than its own', {}, { gracePeriodSeconds: 90 }, 90],
];
test.each(graces)('gives a pod %s', async (name, spec, options, seconds) => {
  const id = name.replaceAll(' ', '-');
  await pod(id, spec);
  const going = metadataOf(await sandbox.make(`DELETE ${pods}/${id}`, options));
  expect(going).toMatchObject({
    deletionGracePeriodSeconds: seconds,
    deletionTimestamp: new Date(clock.now() + seconds * 1000).toISOString().replace('.000', ''),
  });
  expect(await codeOf(`GET ${pods}/${id}`)).toBe(200);
});

test('hurries a going pod, and never lets it wait longer', async () => {
  await pod('hurry');
  await sandbox.make(`DELETE ${pods}/hurry`);
  const steps: [Json | undefined, number, string][] = [
    [undefined, 30, '05:06:30'],
    [{ gracePeriodSeconds: 60 }, 30, '05:06:30'],
    [{ gracePeriodSeconds: 30 }, 30, '05:06:30'],
    [{ gracePeriodSeconds: 10 }, 10, '05:06:10'],
    [{ gracePeriodSeconds: 20 }, 10, '05:06:10'],
  ];
  for (const [options, seconds, time] of steps)
    expect(metadataOf(await sandbox.make(`DELETE ${pods}/hurry`, options))).toMatchObject({
      deletionGracePeriodSeconds: seconds,
      deletionTimestamp: `2026-03-04T${time}Z`,
    });
  await sandbox.make(`DELETE ${pods}/hurry`, { gracePeriodSeconds: 0 });
  expect(await codeOf(`GET ${pods}/hurry`)).toBe(404);
});

test('keeps a pod for its finalizer when its time is over', async () => {
  await pod('held', {}, { finalizers: ['a.b/c'] });
  const going = await sandbox.make(`DELETE ${pods}/held`, { gracePeriodSeconds: 0 });
  expect(metadataOf(going)).toMatchObject({ deletionGracePeriodSeconds: 0, finalizers: ['a.b/c'] });
  await sandbox.make(`PATCH ${pods}/held`, { metadata: { finalizers: [] } });
  expect(await codeOf(`GET ${pods}/held`)).toBe(404);
});

test('keeps a pod for its grace period after its finalizer is removed', async () => {
  await pod('timed', {}, { finalizers: ['a.b/c'] });
  await sandbox.make(`DELETE ${pods}/timed`);
  await sandbox.make(`PATCH ${pods}/timed`, { metadata: { finalizers: [] } });
  expect(await codeOf(`GET ${pods}/timed`)).toBe(200);
  await sandbox.make(`DELETE ${pods}/timed`, { gracePeriodSeconds: 0 });
  expect(await codeOf(`GET ${pods}/timed`)).toBe(404);
});

test('marks a pod before it is removed so that watches see the deletion', async () => {
  await pod('seen', { nodeName: '' });
  const since = sandbox.server.store.revision;
  await sandbox.make(`DELETE ${pods}/seen`);
  const writes = sandbox.server.store.writesAfter('pods', since) ?? [];
  expect(writes.map(({ type, object }) => [type, object.metadata.deletionGracePeriodSeconds])).toEqual([
    ['MODIFIED', 0],
    ['DELETED', 0],
  ]);
});

const conditions: [string, Json, RegExp | undefined][] = [
  ['the right uid', { uid: '{uid}' }, undefined],
  ['the right version', { resourceVersion: '{version}' }, undefined],
  ['both right', { uid: '{uid}', resourceVersion: '{version}' }, undefined],
  [
    'a wrong uid',
    { uid: 'x' },
    /^Operation cannot be fulfilled on ConfigMap "p": the UID in the precondition \(x\) does not match the UID in record \(.+\)\. The object might have been deleted and then recreated$/,
  ],
  [
    'a wrong version',
    { uid: '{uid}', resourceVersion: '1' },
    /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)\. The object might have been modified$/,
  ],
];
test.each(conditions)('deletes on condition of %s', async (_, conditionsGiven, message) => {
  const made = await sandbox.make(`POST ${path}`, { metadata: { name: 'p' } });
  const { uid, resourceVersion } = metadataOf(made) as Record<string, string>;
  const text = JSON.stringify({ preconditions: conditionsGiven })
    .replace('{uid}', uid ?? '')
    .replace('{version}', resourceVersion ?? '');
  const { code, body } = await sandbox.send(`DELETE ${path}/p`, text);
  expect(code).toBe(message === undefined ? 200 : 409);
  if (message !== undefined) {
    expect((body as Json)['message']).toMatch(message);
    await sandbox.make(`DELETE ${path}/p`);
  }
});

test('names the group in a conflict about a precondition', async () => {
  await sandbox.make(`POST ${budgets}`, { metadata: { name: 'p' }, spec: {} });
  expect(await sandbox.send(`DELETE ${budgets}/p`, { preconditions: { uid: 'x' } })).toMatchObject({
    body: {
      message: expect.stringContaining('on PodDisruptionBudget.policy "p"'),
      details: { kind: 'PodDisruptionBudget' },
    },
  });
});

const kept = ['default', 'kube-system', 'kube-public'];
test.each(kept)('never deletes the namespace %s', async name => {
  expect(await sandbox.send(`DELETE /api/v1/namespaces/${name}`)).toMatchObject({
    code: 403,
    body: { message: `namespaces "${name}" is forbidden: this namespace may not be deleted` },
  });
});

test('deletes no collections', async () => {
  expect(await codeOf(`DELETE ${path}`)).toBe(405);
});

test('rejects options it cannot read', async () => {
  await sandbox.make(`POST ${path}`, { metadata: { name: 'opt' } });
  for (const body of ['{bad', '[]', '"x"']) expect((await sandbox.send(`DELETE ${path}/opt`, body)).code).toBe(400);
  expect(await codeOf(`GET ${path}/opt`)).toBe(200);
});
