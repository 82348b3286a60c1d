import { expect, test } from 'vitest';
import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import { Kinds } from './kinds.ts';
import { customKinds } from './kinds/custom.ts';
import { openApiDocument, openApiIndex } from './openapi-v3.ts';
import type { StoredObject } from './ports.ts';

const kinds = new Kinds();
kinds.setCustom('windowsinstances', customKinds(windowsInstanceCrd() as unknown as StoredObject));
const own = 'apis/windowsmachineconfig.openshift.io/v1alpha1';
const document = (root: string) => openApiDocument(kinds.all(), root, 'v1');

test('lists a document for every group and version', () => {
  const roots = Object.keys((openApiIndex(kinds.all()) as { paths: object }).paths);
  expect(roots).toEqual(expect.arrayContaining(['api/v1', 'apis/apps/v1', own]));
  for (const root of roots) expect(document(root)).toMatchObject({ openapi: '3.0.0' });
  expect(document('apis/apps/v9')).toBeUndefined();
});

test('an address changes with its document', () => {
  const addressOf = (all: Kinds) =>
    (openApiIndex(all.all()) as { paths: Record<string, { serverRelativeURL: string }> }).paths['api/v1']
      ?.serverRelativeURL;
  expect(addressOf(kinds)).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9a-f]{64}$/);
  expect(addressOf(new Kinds())).toBe(addressOf(kinds));
});

test('describes a custom resource as its definition does, with metadata', () => {
  const gvk = { group: 'windowsmachineconfig.openshift.io', version: 'v1alpha1', kind: 'WindowsInstance' };
  expect(document(own)).toMatchObject({
    paths: {
      [`/${own}/namespaces/{namespace}/windowsinstances`]: { get: { 'x-kubernetes-group-version-kind': gvk } },
      [`/${own}/namespaces/{namespace}/windowsinstances/{name}`]: {
        patch: { parameters: [{ name: 'fieldValidation' }], 'x-kubernetes-group-version-kind': gvk },
      },
    },
    components: {
      schemas: {
        'io.openshift.windowsmachineconfig.v1alpha1.WindowsInstance': {
          properties: {
            metadata: { properties: { name: { type: 'string' } } },
            spec: { properties: { address: { type: 'string', description: expect.any(String) as string } } },
          },
          'x-kubernetes-group-version-kind': [gvk],
        },
      },
    },
  });
});

test('describes a built-in kind by its shape', () => {
  expect(document('api/v1')).toMatchObject({
    components: {
      schemas: {
        'core.v1.ConfigMap': {
          properties: {
            data: { type: 'object', additionalProperties: { type: 'string' } },
            immutable: { type: 'boolean' },
          },
        },
      },
    },
    paths: { '/api/v1/nodes': { get: { 'x-kubernetes-action': 'list' } } },
  });
});
