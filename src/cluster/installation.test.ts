import { expect, test } from 'vitest';
import { customResourceDefinitions, namespaces } from '#kube/resources.ts';
import { MemoryApi, refused } from '../../test/kit/memory-api.ts';
import { Installation } from './installation.ts';

const { signal } = new AbortController();
const crdName = 'windowsinstances.windowsmachineconfig.openshift.io';
const namespace = { metadata: { name: 'wmco', uid: 'n' } };
const crd = { metadata: { name: crdName, uid: 'c' } } as never;

async function setUp() {
  const api = new MemoryApi();
  api.put(namespaces, namespace);
  api.put(customResourceDefinitions, crd);
  const installation = new Installation(api, 'wmco');
  await installation.start(signal);
  return { api, problem: () => installation.problem(signal) };
}

const deletionTimestamp = '2026-03-01T12:00:00Z';
const problems: [about: string, change: (api: MemoryApi) => unknown, want: string | undefined][] = [
  ['both as they were', () => undefined, undefined],
  ['no namespace', api => api.remove(namespaces, 'wmco'), 'Namespace wmco does not exist'],
  [
    'a namespace that is being deleted',
    api => api.put(namespaces, { metadata: { ...namespace.metadata, deletionTimestamp } }),
    'Namespace wmco is being deleted',
  ],
  [
    'a namespace that was created again',
    api => api.put(namespaces, { metadata: { name: 'wmco', uid: 'n2' } }),
    'Namespace wmco was created again since the operator started',
  ],
  [
    'no CRD',
    api => api.remove(customResourceDefinitions, crdName),
    `CustomResourceDefinition ${crdName} does not exist`,
  ],
  [
    'a CRD that is being deleted',
    api => api.put(customResourceDefinitions, { metadata: { name: crdName, uid: 'c', deletionTimestamp } } as never),
    `CustomResourceDefinition ${crdName} is being deleted`,
  ],
  [
    'a CRD that was created again',
    api => api.put(customResourceDefinitions, { metadata: { name: crdName, uid: 'c2' } } as never),
    `CustomResourceDefinition ${crdName} was created again since the operator started`,
  ],
];
for (const [about, change, want] of problems) {
  test(`${want === undefined ? 'removals are allowed' : 'no host is removed'} with ${about}`, async () => {
    const { api, problem } = await setUp();
    change(api);
    expect(await problem()).toBe(want);
  });
}

test('no host is removed while the API server does not answer', async () => {
  const { api, problem } = await setUp();
  api.before = () => {
    throw refused(403, 'Forbidden');
  };
  expect(await problem()).toMatch(/cannot be read: .*Forbidden/);
});
