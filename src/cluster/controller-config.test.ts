import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import { controllerConfig, kubeletCaPem, type PlainObject, registryCaPem } from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import { kubeletCa, readControllerConfig } from './controller-config.ts';

const read = (spec: PlainObject) => readControllerConfig(readObject(controllerConfig(spec)));

test('decodes the kubelet CA and the registry bundles, those of users first', () => {
  expect(read({})).toEqual({
    kubeletCa: kubeletCaPem,
    registryBundles: [
      { file: 'mirror.example.com..5000', data: registryCaPem },
      { file: 'image-registry.openshift-image-registry.svc..5000', data: kubeletCaPem },
    ],
  });
});

test('keeps the order of bundles and the name as the machine config operator writes it', () => {
  const bundle = (file: string) => ({ file, data: toBase64(file) });
  const { registryBundles } = read({
    imageRegistryBundleData: [bundle('c'), bundle('a..443')],
    imageRegistryBundleUserData: [bundle('d'), bundle('b')],
  });
  expect(registryBundles.map(({ file }) => file)).toEqual(['d', 'b', 'c', 'a..443']);
});

const caCases: [name: string, data: unknown, want: string | undefined][] = [
  ['base64 of PEM', toBase64(kubeletCaPem), kubeletCaPem],
  ['base64 in lines', toBase64(kubeletCaPem).replaceAll(/.{60}/g, '$&\n'), kubeletCaPem],
  ['an empty text', '', ''],
  ['null', null, undefined],
  ['nothing', undefined, undefined],
];
for (const [name, data, want] of caCases)
  test(`reads as kubelet CA ${name}`, () => expect(read({ kubeAPIServerServingCAData: data }).kubeletCa).toBe(want));

const bundleCases: [name: string, spec: PlainObject, want: unknown[]][] = [
  ['no lists', { imageRegistryBundleUserData: undefined, imageRegistryBundleData: undefined }, []],
  ['null lists', { imageRegistryBundleUserData: null, imageRegistryBundleData: null }, []],
  ['empty lists', { imageRegistryBundleUserData: [], imageRegistryBundleData: [] }, []],
  [
    'a bundle without data',
    { imageRegistryBundleUserData: [{ file: 'a' }], imageRegistryBundleData: [] },
    [{ file: 'a', data: '' }],
  ],
];
for (const [name, spec, want] of bundleCases)
  test(`reads registry bundles from ${name}`, () => expect(read(spec).registryBundles).toEqual(want));

const broken: [name: string, spec: PlainObject, field: string][] = [
  ['a CA in the clear', { kubeAPIServerServingCAData: kubeletCaPem }, 'spec.kubeAPIServerServingCAData'],
  ['a CA that is no UTF-8', { kubeAPIServerServingCAData: '//79' }, 'spec.kubeAPIServerServingCAData'],
  ['a CA that is a number', { kubeAPIServerServingCAData: 7 }, 'spec.kubeAPIServerServingCAData'],
  [
    'a bundle in the clear',
    { imageRegistryBundleUserData: [{ file: 'a', data: registryCaPem }] },
    'spec.imageRegistryBundleUserData[0].data',
  ],
  [
    'a second bundle that is no text',
    { imageRegistryBundleData: [{ file: 'a' }, { file: 'b', data: {} }] },
    'spec.imageRegistryBundleData[1].data',
  ],
  ['a bundle without a name', { imageRegistryBundleData: [{ data: '' }] }, 'spec.imageRegistryBundleData[0].file'],
  ['a bundle that is a text', { imageRegistryBundleData: ['a'] }, 'spec.imageRegistryBundleData[0]'],
  ['bundles that are an object', { imageRegistryBundleData: {} }, 'spec.imageRegistryBundleData'],
];
for (const [name, spec, field] of broken)
  test(`refuses ${name}`, () => {
    const error = errorOf(() => read(spec));
    expect(error?.code).toBe('FIELD_INVALID');
    expect(error?.message).toContain(`ControllerConfig machine-config-controller: ${field} is `);
    expect(error?.remedy).not.toBe('');
  });

const choices: [name: string, cas: (string | undefined)[], want: string][] = [
  ['the only one', ['A'], 'A'],
  ['the first', ['A', 'B'], 'A'],
  ['the first that has one', [undefined, 'B', 'C'], 'B'],
  ['the first that is not empty', ['', 'B'], 'B'],
];
for (const [name, cas, want] of choices)
  test(`takes as kubelet CA ${name}`, () => expect(kubeletCa(cas.map(ca => ({ kubeletCa: ca })))).toBe(want));

for (const cas of [[], [undefined], ['', undefined]])
  test(`finds no kubelet CA among ${JSON.stringify(cas)}`, () => {
    const error = errorOf(() => kubeletCa(cas.map(ca => ({ kubeletCa: ca }))));
    expect(error?.code).toBe('KUBELET_CA_MISSING');
    expect(error?.message).toContain('cannot find kubelet-ca');
    expect(error?.remedy).toContain('oc get controllerconfigs');
  });

test('throws only AppErrors, whatever the spec', () => {
  const bundles = fc.oneof(fc.jsonValue(), fc.array(fc.record({ file: fc.string(), data: fc.jsonValue() })));
  const spec = fc.record({
    kubeAPIServerServingCAData: fc.oneof(fc.jsonValue(), fc.base64String()),
    imageRegistryBundleUserData: bundles,
    imageRegistryBundleData: bundles,
  });
  fc.assert(
    fc.property(spec, value => {
      attempt(() => read(value));
    }),
    { numRuns: 2000 },
  );
});
