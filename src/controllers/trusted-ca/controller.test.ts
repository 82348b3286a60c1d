import { expect, onTestFinished, test } from 'vitest';
import { configMaps } from '#kube/resources.ts';
import { type KubeObject, readObject } from '#contract/object.ts';
import { fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { proxyConfig } from '../../../test/kit/openshift-objects.ts';
import { benchNamespace as namespace, sourceBench } from '../../../test/kit/source-bench.ts';
import { trustedCaController, type TrustedCaParts } from './controller.ts';

const label = 'config.openshift.io/inject-trusted-cabundle';
const name = 'trusted-ca';

const proxied: TrustedCaParts['settings'] = { namespace, proxy: { HTTPS_PROXY: 'http://proxy:3128' } };

function begin(settings = proxied, objects: KubeObject[] = []) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const facts = fixedFacts({}, objects);
  const controller = trustedCaController({ ...bench.parts, facts, settings });
  return {
    facts,
    ...bench,
    map: () => bench.api.peek(configMaps, name, namespace),
    run: () => bench.start(controller),
  };
}

test('CA-01: makes an empty ConfigMap with the label, for the cluster to fill', async () => {
  const { run, map } = begin();
  await run();
  expect(map()).toMatchObject({ metadata: { labels: { [label]: 'true' } } });
  expect(map()?.data).toBeUndefined();
});

test('CA-01: builds it again when a user deletes it', async () => {
  const { run, map, api } = begin();
  await run();
  api.remove(configMaps, name, namespace);
  await settle();
  expect(map()).toBeDefined();
});

test('CA-01: puts the label back, and touches neither other labels nor the bundle', async () => {
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

test('CA-01: a proxy that is switched on at run time gets its ConfigMap, and it stays when it is switched off', async () => {
  const objects = [proxyConfig()].map(object => readObject(object));
  const { run, map, api, facts } = begin({ namespace, proxy: {} }, objects);
  const become = async (status: Record<string, string>) => {
    objects[0] = readObject(proxyConfig(status));
    facts.become({});
    await settle();
  };
  await run();
  expect(map()).toBeUndefined();
  await become({ httpProxy: 'http://proxy:3128' });
  expect(map()).toMatchObject({ metadata: { labels: { [label]: 'true' } } });
  await become({});
  expect(map()).toBeDefined();
  api.remove(configMaps, name, namespace);
  await settle();
  expect(map()).toBeUndefined();
});
