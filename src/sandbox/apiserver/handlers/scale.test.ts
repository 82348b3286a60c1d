import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../../test/kit/sandbox.ts';

const things = '/apis/example.com/v1/namespaces/default/things';
const merge = 'application/merge-patch+json';
let sandbox: Sandbox;
let count = 0;
beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.make('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing', singular: 'thing', listKind: 'ThingList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
        },
      ],
    },
  });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function thing(replicas: number): Promise<string> {
  count += 1;
  const metadata = { name: `t${count}` };
  await sandbox.make(`POST ${things}`, {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata,
    spec: { replicas, a: 1 },
  });
  return `${things}/t${count}`;
}

test('shows what an object wants and has', async () => {
  const path = await thing(3);
  await sandbox.make(`PATCH ${path}/status`, { status: { replicas: 2, selector: 'a=b' } });
  expect(await sandbox.make(`GET ${path}/scale`)).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: `t${count}`, namespace: 'default' },
    spec: { replicas: 3 },
    status: { replicas: 2, selector: 'a=b' },
  });
});

test('changes only the number of replicas', async () => {
  const path = await thing(3);
  const scale = await sandbox.make(`GET ${path}/scale`);
  expect(await sandbox.make(`PUT ${path}/scale`, { ...scale, spec: { replicas: 5 } })).toMatchObject({
    spec: { replicas: 5 },
  });
  expect(await sandbox.make(`GET ${path}`)).toMatchObject({ spec: { replicas: 5, a: 1 }, metadata: { generation: 2 } });
  await sandbox.make(`PATCH ${path}/scale`, { spec: { replicas: 0 } });
  expect(await sandbox.make(`GET ${path}`)).toMatchObject({ spec: { replicas: 0, a: 1 } });
});

test('scales a Deployment', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'a' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  await sandbox.make(`POST ${deployments}`, {
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: labels }, template },
  });
  await sandbox.make(`PATCH ${deployments}/d/scale`, { spec: { replicas: 4 } });
  expect(await sandbox.make(`GET ${deployments}/d`)).toMatchObject({ spec: { replicas: 4 } });
});

test.each([
  ['a negative number', { spec: { replicas: -1 } }, 422],
  ['a fraction', { spec: { replicas: 1.5 } }, 400],
  ['a text', { spec: { replicas: 'many' } }, 400],
  ['another version of the object', { metadata: { resourceVersion: '1' }, spec: { replicas: 1 } }, 409],
])('rejects %s', async (_about, body, code) => {
  const path = await thing(3);
  expect((await sandbox.send(`PATCH ${path}/scale`, body, { 'content-type': merge })).code).toBe(code);
  expect(await sandbox.make(`GET ${path}`)).toMatchObject({ spec: { replicas: 3 } });
});

test('an object that does not exist has no scale', async () => {
  expect((await sandbox.send(`GET ${things}/none/scale`)).code).toBe(404);
});
