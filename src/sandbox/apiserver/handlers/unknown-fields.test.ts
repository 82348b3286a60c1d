import { expect, test } from 'vitest';
import { windowsInstanceCrd } from '#contract/windows-instance/crd.ts';
import { refusal } from '../../../../test/kit/sandbox.ts';
import type { Kind } from '../kind.ts';
import { configMap } from '../kinds/config.ts';
import { pod } from '../kinds/pod.ts';
import { customKinds } from '../kinds/custom.ts';
import type { StoredObject } from '../ports.ts';
import { rejectUnknownFields } from './unknown-fields.ts';

const [windowsInstance] = customKinds(windowsInstanceCrd() as unknown as StoredObject);
const loose = { ...windowsInstance, schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as Kind;
const spec = { address: '10.0.0.1', username: 'a' };

const cases: [about: string, kind: Kind | undefined, body: unknown, unknown: string[]][] = [
  ['an instance', windowsInstance, { apiVersion: 'x', kind: 'y', metadata: { name: 'n' }, spec }, []],
  ['a misspelled field', windowsInstance, { spec: { ...spec, usrname: 'a' } }, ['spec.usrname']],
  [
    'a misspelled field in a list',
    windowsInstance,
    { spec: { ...spec, taints: [{ key: 'a', efect: 'x' }] } },
    ['spec.taints[0].efect'],
  ],
  ['labels of any name', windowsInstance, { spec: { ...spec, labels: { anything: 'x' } } }, []],
  ['a field beside the spec', windowsInstance, { spec, specs: {} }, ['specs']],
  ['misspelled metadata', windowsInstance, { metadata: { nme: 'x' }, spec }, ['metadata.nme']],
  ['several at once', windowsInstance, { metadata: { nme: 'x' }, spec: { ...spec, b: 1 } }, ['metadata.nme', 'spec.b']],
  ['a schema that keeps everything', loose, { spec: { anything: { at: 'all' } } }, []],
  ['a ConfigMap', configMap, { metadata: { labels: { a: 'b' } }, data: { anything: 'x' } }, []],
  ['a misspelled field of a ConfigMap', configMap, { dta: {} }, ['dta']],
  ['no object at all', configMap, 'text', []],
  ['a list in the place of an object', pod, { metadata: [], spec: [] }, []],
];
for (const [about, kind, body, unknown] of cases) {
  test(`strict validation: ${about}`, () => {
    if (kind === undefined) throw new Error('no kind');
    const found = refusal(() => rejectUnknownFields({ kind, isStrict: true }, body));
    if (unknown.length === 0) return expect(found).toBeUndefined();
    expect(found?.[0]).toBe(400);
    for (const path of unknown) expect(found?.[1]).toContain(`unknown field "${path}"`);
    expect(() => rejectUnknownFields({ kind, isStrict: false }, body)).not.toThrow();
  });
}
