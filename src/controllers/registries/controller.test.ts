import { expect, onTestFinished, test } from 'vitest';
import type { Resource } from '#kube/resource.ts';
import {
  imageConfigs,
  imageContentSourcePolicies,
  imageDigestMirrorSets,
  imageTagMirrorSets,
} from '#kube/resources-openshift.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { sourceBench } from '../../../test/kit/source-bench.ts';
import { registriesController } from './controller.ts';

function begin(serves: (resource: Resource) => boolean = () => true) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const reasons = () => bench.events.map(text => text.split(' ', 2).join(' '));
  return { bench, reasons, run: () => bench.start(registriesController({ ...bench.parts, serves })) };
}

const wrong = { imageDigestMirrors: [{ source: '*.io', mirrors: ['m.io'] }] };

test('reports each problem once, on the object', async () => {
  const { run, bench, reasons } = begin();
  bench.api.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'u' }, spec: wrong });
  await run();
  expect(reasons()).toEqual(['ImageDigestMirrorSet/d MirrorIgnored']);
  await bench.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'u', labels: { a: 'b' } }, spec: wrong });
  await bench.put(imageTagMirrorSets, { metadata: { name: 't', uid: 'v' }, spec: { imageTagMirrors: [] } });
  await settle();
  expect(reasons()).toHaveLength(1);
});

test('reports again when a problem is back, or on a new object of the same name', async () => {
  const { run, bench, reasons } = begin();
  await run();
  await bench.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'u' }, spec: wrong });
  await bench.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'u' }, spec: {} });
  await bench.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'u' }, spec: wrong });
  await bench.put(imageDigestMirrorSets, { metadata: { name: 'd', uid: 'w' }, spec: wrong });
  expect(reasons()).toHaveLength(3);
});

test('an image configuration that blocks a mirror is reported on the mirror set', async () => {
  const { run, bench, reasons } = begin();
  const set = { imageTagMirrors: [{ source: 'a.io', mirrors: ['m.io', 'n.io'] }] };
  await bench.put(imageTagMirrorSets, { metadata: { name: 't', uid: 'v' }, spec: set });
  await run();
  expect(reasons()).toEqual([]);
  await bench.put(imageConfigs, {
    metadata: { name: 'cluster' },
    spec: { registrySources: { blockedRegistries: ['m.io'] } },
  });
  expect(reasons()).toEqual(['ImageTagMirrorSet/t MirrorIgnored']);
});

test('reports the former kind of mirror set where the cluster has it', async () => {
  const { run, bench, reasons } = begin();
  await run();
  await bench.put(imageContentSourcePolicies, { metadata: { name: 'old' } });
  expect(reasons()).toEqual(['ImageContentSourcePolicy/old MirrorNotUsed']);
});

test('does not watch what the cluster does not serve', async () => {
  const { run, bench, reasons } = begin(({ kind }) => kind !== 'ImageContentSourcePolicy');
  await run();
  await bench.put(imageContentSourcePolicies, { metadata: { name: 'old' } });
  expect(reasons()).toEqual([]);
});
