import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
let sandbox: Sandbox;
let count = 0;
beforeAll(async () => {
  // Without a controller the status of a budget stays as a test sets it.
  sandbox = await startSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

interface Setting {
  phase?: string;
  ready?: boolean;
  budget?: Json;
  status?: Json;
}

/** A pod on a node with a budget of its own; gives the name of both. */
async function prepare({ phase = 'Running', ready = true, budget, status = {} }: Setting): Promise<string> {
  count += 1;
  const name = `e${count}`;
  const labels = { app: name };
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  await sandbox.make(`POST ${pods}`, { metadata: { name, labels }, spec });
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  await sandbox.make(`PATCH ${pods}/${name}/status`, { status: { phase, conditions } });
  if (budget === undefined) return name;
  await sandbox.make(`POST ${budgets}`, { metadata: { name }, spec: { selector: { matchLabels: labels }, ...budget } });
  await sandbox.make(`PATCH ${budgets}/${name}/status`, { status: { observedGeneration: 1, ...status } });
  return name;
}

const evict = (name: string, more: Json = {}, query = '') =>
  sandbox.send(`POST ${pods}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: 'default' },
    ...more,
  });
const isGoing = async (name: string): Promise<boolean> => {
  const { body } = await sandbox.send(`GET ${pods}/${name}`);
  return (body as { metadata: Json }).metadata['deletionTimestamp'] !== undefined;
};

const needs = (wanted: number, has: number) =>
  new RegExp(`^The disruption budget e\\d+ needs ${wanted} healthy pods and has ${has} currently$`);
const processing = /^The disruption budget e\d+ is still being processed by the server\.$/;

const outcomes: [string, Setting, RegExp | undefined][] = [
  ['no budget', {}, undefined],
  ['a budget that allows it', { budget: {}, status: { disruptionsAllowed: 1 } }, undefined],
  [
    'a budget that does not',
    { budget: {}, status: { disruptionsAllowed: 0, desiredHealthy: 2, currentHealthy: 2 } },
    needs(2, 2),
  ],
  [
    'a budget that has been exceeded',
    { budget: {}, status: { disruptionsAllowed: -1, desiredHealthy: 2, currentHealthy: 1 } },
    needs(2, 1),
  ],
  ['an unprocessed budget', { budget: {}, status: { observedGeneration: 0, disruptionsAllowed: 1 } }, processing],
  ['a pod that waits to start', { phase: 'Pending', budget: {} }, undefined],
  ['a pod that has ended', { phase: 'Succeeded', budget: {} }, undefined],
  ['a pod that has failed', { phase: 'Failed', budget: {} }, undefined],
  [
    'a pod that is not ready while others are',
    { ready: false, budget: {}, status: { desiredHealthy: 1, currentHealthy: 1, disruptionsAllowed: 0 } },
    undefined,
  ],
  [
    'a pod that is not ready and would be missed',
    { ready: false, budget: {}, status: { desiredHealthy: 2, currentHealthy: 1, disruptionsAllowed: 0 } },
    needs(2, 1),
  ],
  [
    'a pod that is not ready where none is wanted',
    { ready: false, budget: {}, status: { desiredHealthy: 0, currentHealthy: 0, disruptionsAllowed: 0 } },
    needs(0, 0),
  ],
  [
    'a budget of other pods',
    { budget: { selector: { matchLabels: { app: 'other' } } }, status: { disruptionsAllowed: 0 } },
    undefined,
  ],
  ['a budget without a selector', { budget: { selector: null }, status: { disruptionsAllowed: 0 } }, undefined],
  [
    'a budget of all pods',
    { budget: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['never'] }] } } },
    undefined,
  ],
];
test.each(outcomes)('evicts with %s', async (_, setting, refused) => {
  const name = await prepare(setting);
  const { code, body } = await evict(name);
  if (refused === undefined) {
    expect([code, body]).toMatchObject([201, { kind: 'Status', status: 'Success', code: 201 }]);
    return;
  }
  expect(code).toBe(429);
  expect(body).toMatchObject({
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: { causes: [{ reason: 'DisruptionBudget', message: expect.stringMatching(refused) }] },
  });
  expect(await isGoing(name)).toBe(false);
});

test('records the evicted pod in the budget', async () => {
  const name = await prepare({ budget: {}, status: { disruptionsAllowed: 2 } });
  await evict(name);
  expect(await sandbox.make(`GET ${budgets}/${name}`)).toMatchObject({
    status: { disruptionsAllowed: 1, disruptedPods: { [name]: expect.stringMatching(/Z$/) } },
  });
});

test('does not count a pod twice', async () => {
  const name = await prepare({ budget: {}, status: { disruptionsAllowed: 2 } });
  await evict(name);
  expect((await evict(name)).code).toBe(201);
  expect(await sandbox.make(`GET ${budgets}/${name}`)).toMatchObject({ status: { disruptionsAllowed: 1 } });
});

test('does nothing on a dry run, by query or body', async () => {
  const name = await prepare({ budget: {}, status: { disruptionsAllowed: 1 } });
  expect((await evict(name, {}, '?dryRun=All')).code).toBe(201);
  expect((await evict(name, { deleteOptions: { dryRun: ['All'] } })).code).toBe(201);
  expect(await isGoing(name)).toBe(false);
  expect(await sandbox.make(`GET ${budgets}/${name}`)).toMatchObject({ status: { disruptionsAllowed: 1 } });
});

test('rejects to choose between budgets', async () => {
  const name = await prepare({ budget: {}, status: { disruptionsAllowed: 1 } });
  await sandbox.make(`POST ${budgets}`, {
    metadata: { name: `${name}b` },
    spec: { selector: { matchLabels: { app: name } } },
  });
  expect(await evict(name)).toMatchObject({
    code: 500,
    body: { message: expect.stringMatching(/^This pod has more than one/) },
  });
});

test('passes on options, and what is wrong with them', async () => {
  const name = await prepare({});
  expect((await evict(name, { deleteOptions: { preconditions: { uid: 'x' } } })).code).toBe(409);
  expect((await evict(name, { deleteOptions: { propagationPolicy: 'Some' } })).code).toBe(422);
  expect((await evict(name, { deleteOptions: { gracePeriodSeconds: 0 } })).code).toBe(201);
  expect((await sandbox.send(`GET ${pods}/${name}`)).code).toBe(404);
});

const bodies: [string, unknown, number][] = [
  ['another name', { metadata: { name: 'other' } }, 400],
  ['no name', {}, 400],
  ['a list', [], 400],
  ['another kind', { kind: 'Pod', metadata: { name: 'b' } }, 400],
  ['another version', { apiVersion: 'policy/v2', metadata: { name: 'b' } }, 400],
  ['the older version', { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'b' } }, 404],
  ['no version', { metadata: { name: 'b' } }, 404],
];
test.each(bodies)('answers a body with %s', async (_, body, code) => {
  expect((await sandbox.send(`POST ${pods}/b/eviction`, body)).code).toBe(code);
});
