import { expect, onTestFinished, test } from 'vitest';
import { configMaps } from '#kube/resources.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { trustedCaController } from './controller.ts';

const label = 'config.openshift.io/inject-trusted-cabundle';
const name = 'trusted-ca';

function begin() {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const controller = trustedCaController(bench.parts);
  return { ...bench, map: () => bench.api.peek(configMaps, name, namespace), run: () => bench.start(controller) };
}

test('makes an empty ConfigMap with the label, for the cluster to fill', async () => {
  const { run, map } = begin();
  await run();
  expect(map()).toMatchObject({ metadata: { labels: { [label]: 'true' } } });
  expect(map()?.data).toBeUndefined();
});

test('builds it again when a user deletes it', async () => {
  const { run, map, api } = begin();
  await run();
  api.remove(configMaps, name, namespace);
  await settle();
  expect(map()).toBeDefined();
});

test('puts the label back, and touches neither other labels nor the bundle', async () => {
  const { run, map, api } = begin();
  await run();
  api.put(configMaps, {
    metadata: { name, namespace, uid: 'u', labels: { other: 'x' } },
    data: { 'ca-bundle.crt': 'bundle' },
  });
  await settle();
  expect(map()).toMatchObject({
    metadata: { labels: { other: 'x', [label]: 'true' } },
    data: { 'ca-bundle.crt': 'bundle' },
  });
});

test('does nothing to one that is right', async () => {
  const { run, api } = begin();
  api.put(configMaps, { metadata: { name, namespace, labels: { [label]: 'true' } }, data: { 'ca-bundle.crt': 'b' } });
  await run();
  expect(api.calls).toEqual([]);
});

test('is not troubled by one that came a moment ago', async () => {
  const { run, api, log } = begin();
  api.before = ({ verb }) => {
    if (verb === 'create') throw refused(409, 'AlreadyExists');
  };
  await run();
  expect(log.messages('error')).toEqual([]);
});

test('retries after a failure', async () => {
  const { run, api, map, clock } = begin();
  let left = 1;
  api.before = ({ verb }) => {
    if (verb === 'create' && left-- > 0) throw refused(500, 'InternalError');
  };
  await run();
  expect(map()).toBeUndefined();
  await clock.advance(5000);
  expect(map()).toBeDefined();
});
