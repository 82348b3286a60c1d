import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { matchesFields, parseFieldSelector } from './field-selector.ts';
import type { Kind } from './kind.ts';
import { configMap, secret } from './kinds/config.ts';
import { event, namespace } from './kinds/core.ts';
import { customKinds } from './kinds/custom.ts';
import { node } from './kinds/node.ts';
import { pod } from './kinds/pod.ts';
import type { StoredObject } from './ports.ts';

const [custom] = customKinds({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {},
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', singular: 'thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: {} } }],
  },
}) as [Kind];

const base = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', namespace: 'n' } };
const aPod: StoredObject = { ...base, spec: { nodeName: 'win1' }, status: { phase: 'Running' } };
const anEvent: StoredObject = {
  ...base,
  involvedObject: { kind: 'Node', name: 'win1', uid: 'u' },
  source: { component: 'kubelet' },
  type: 'Warning',
  reason: 'Bad',
};

const matching: [string, Kind, StoredObject, boolean][] = [
  ['', configMap, base, true],
  ['metadata.name=a', configMap, base, true],
  ['metadata.name==a', configMap, base, true],
  ['metadata.name=b', configMap, base, false],
  ['metadata.name!=b', configMap, base, true],
  ['metadata.namespace=n,metadata.name=a', configMap, base, true],
  ['metadata.namespace=n,metadata.name=b', configMap, base, false],
  ['metadata.name=a,', configMap, base, true],
  ['spec.nodeName=win1', pod, aPod, true],
  ['spec.nodeName=', pod, aPod, false],
  ['spec.nodeName=', pod, base, true],
  ['spec.nodeName!=win2,status.phase!=Failed', pod, aPod, true],
  ['status.phase=Running', pod, aPod, true],
  ['spec.unschedulable=false', node, base, true],
  ['spec.unschedulable=true', node, { ...base, spec: { unschedulable: true } }, true],
  ['involvedObject.kind=Node,involvedObject.name=win1', event, anEvent, true],
  ['involvedObject.uid=v', event, anEvent, false],
  ['source=kubelet', event, anEvent, true],
  ['type!=Normal,reason=Bad', event, anEvent, true],
  ['type=Opaque', secret, { ...base, type: 'Opaque' }, true],
  ['status.phase=Active', namespace, { ...base, status: { phase: 'Active' } }, true],
  ['metadata.name=a', custom, base, true],
  ['metadata.name=a\\,b', configMap, { ...base, metadata: { name: 'a,b' } }, true],
  ['metadata.name=a\\=b', configMap, { ...base, metadata: { name: 'a=b' } }, true],
];
test.each(matching)('%j selects', (selector, kind, object, matches) => {
  expect(matchesFields(parseFieldSelector(selector, kind), object, kind)).toBe(matches);
});

const refused: [string, Kind, string][] = [
  ['a', configMap, "invalid selector: 'a'; can't understand 'a'"],
  ['metadata.name=a,b', configMap, "invalid selector: 'metadata.name=a,b'; can't understand 'b'"],
  ['!a', configMap, "invalid selector: '!a'; can't understand '!a'"],
  ['data.k=v', configMap, '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['spec.x=y', pod, 'field label not supported: spec.x'],
  ['spec.x=y', custom, 'field label not supported: spec.x'],
  ['metadata.namespace=n', node, 'field label not supported: metadata.namespace'],
  ['metadata.labels=n', node, 'field label not supported: metadata.labels'],
];
test.each(refused)('rejects %j', (selector, kind, message) => {
  expect(refusal(() => parseFieldSelector(selector, kind))).toEqual([400, message]);
});

test('fails on bad texts only by refusing them', () => {
  const parts = fc.constantFrom('metadata.name', 'a', '=', '==', '!=', '!', ',', '\\', ' ');
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 10 }), list => {
      expect(refusal(() => parseFieldSelector(list.join(''), configMap))?.[0] ?? 400).toBe(400);
    }),
    { numRuns: 3000 },
  );
});
