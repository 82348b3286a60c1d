import { expect, onTestFinished, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { toBase64 } from '#base/bytes.ts';
import { nodeAnnotation, servicesAnnotation } from '#contract/names.ts';
import { printManifest } from '#contract/services/print.ts';
import { type ConfigMap, configMaps, nodes, secrets } from '#kube/resources.ts';
import { readLogRotation } from '#node/desired/log-rotation.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { saltMember } from '#node/inputs/key-store.ts';
import { clusterSalt } from '#node/inputs/settings-salt.ts';
import { benchSettings, fixedFacts, unknownFacts, defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, benchVersion, sourceBench } from '../../../test/kit/source-bench.ts';
import { servicesConfigController } from './controller.ts';

const name = `windows-services-${benchVersion}`;
const data = printManifest(servicesManifest(defaultFacts, benchSettings));
const map = (more: Partial<ConfigMap> = {}, of = benchVersion): ConfigMap => ({
  metadata: { name: `windows-services-${of}`, namespace },
  data,
  immutable: true,
  ...more,
});

function begin(facts = fixedFacts(), settings = benchSettings) {
  const bench = sourceBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const controller = servicesConfigController({ ...bench.parts, facts, settings });
  const own = () => bench.api.peek(configMaps, name, namespace);
  const writes = () =>
    bench.api.calls
      .filter(({ verb }) => verb !== 'get' && verb !== 'list')
      .map(({ verb, name: of }) => `${verb} ${of.replace(benchVersion, 'own')}`);
  return { ...bench, facts, own, writes, run: () => bench.start(controller) };
}

test('SVC-01: creates the ConfigMap when there is none, immutable', async () => {
  const { run, own, writes } = begin();
  await run();
  expect(own()).toMatchObject({ data, immutable: true, metadata: { name, namespace } });
  expect(writes()).toEqual(['create windows-services-own']);
});

test('does nothing when it is right', async () => {
  const { run, api, writes } = begin();
  api.put(configMaps, map());
  await run();
  expect(writes()).toEqual([]);
});

test('SVC-02: builds it again when a user deletes it', async () => {
  const { run, api, own, writes } = begin();
  await run();
  api.remove(configMaps, name, namespace);
  await settle();
  expect(own()?.data).toEqual(data);
  expect(writes()).toHaveLength(2);
});

test('SVC-03: replaces one with other content, and reports it', async () => {
  const { run, api, own, writes, log } = begin();
  api.put(configMaps, map({ data: { services: '[]', files: '[]' } }));
  await run();
  expect(own()?.data).toEqual(data);
  expect(writes()).toEqual(['delete windows-services-own', 'create windows-services-own']);
  expect(log.messages('info')).toContain('Deleted invalid resource');
});

test('another private key changes no hash of services with a password, once the salt is stored', async () => {
  const proxy = { httpProxy: 'http://user:secret@proxy:3128', httpsProxy: '', noProxy: '' };
  const bench = begin(fixedFacts({ proxy }));
  const { run, api, own, parts } = bench;
  const putKey = (text: string) =>
    bench.put(secrets, {
      metadata: { name: 'cloud-private-key', namespace },
      data: { 'private-key.pem': toBase64(text) },
    });
  await putKey('K');
  await run();
  const saltOf = () => own()?.metadata.annotations?.[servicesAnnotation.salt];
  const first = saltOf();
  const { salt } = clusterSalt(parts);
  await bench.put(secrets, {
    metadata: { name: 'windows-private-keys', namespace },
    data: { [saltMember]: toBase64(salt.read().reveal()) },
  });
  await putKey('L');
  expect([saltOf(), first?.length]).toEqual([first, 32]);
  // What hosts are told is made of the same salt.
  expect(salt.forServices(servicesManifest({ ...defaultFacts, proxy }, benchSettings))).toBe(first);
  api.remove(secrets, 'windows-private-keys', namespace);
  await settle();
  expect(saltOf()).toBe(first);
});

test('replaces it when facts change, and leaves it when they change in other things', async () => {
  const { run, facts, own, writes } = begin();
  await run();
  facts.become({ kubeletCa: 'another' });
  await settle();
  expect(writes()).toHaveLength(1);
  facts.become({ network: { ...defaultFacts.network, vxlanPort: '9898' } });
  await settle();
  expect(own()?.data?.['services']).toContain('--hybrid-overlay-vxlan-port 9898');
});

test('REC-03: replaces it when a new rendered worker config has other options of the kubelet', async () => {
  const { run, facts, own, writes } = begin();
  await run();
  expect(own()?.data?.['services']).not.toContain('--cloud-provider');
  facts.become({ kubeletArguments: { 'cloud-provider': 'external' } });
  await settle();
  expect(own()?.data?.['services']).toContain('--cloud-provider=external');
  expect(writes()).toEqual([
    'create windows-services-own',
    'delete windows-services-own',
    'create windows-services-own',
  ]);
});

test('REC-02: log rotation that is switched on replaces the ConfigMap under its name', async () => {
  const logRotation = readLogRotation({
    SERVICES_LOG_FILE_SIZE: '1M',
    SERVICES_LOG_FILE_AGE: '168h',
    SERVICES_LOG_FLUSH_INTERVAL: '5s',
  });
  const { run, own, api } = begin(fixedFacts(), { ...benchSettings, logRotation });
  api.put(configMaps, map());
  await run();
  const services = JSON.parse(own()?.data?.['services'] ?? '') as { name: string; path: string }[];
  const rotated = services.filter(({ path }) =>
    path.includes('-log-file-size=1M -log-file-age=168h -flush-interval=5s'),
  );
  expect(rotated.map(service => service.name)).toEqual(['kubelet', 'csi-proxy', 'kube-proxy']);
  for (const { path } of rotated) expect(path).toMatch(/kube-log-runner.* -log-file=/);
});

test('waits for facts that are not there, and takes them as soon as they come', async () => {
  const { run, facts, own, log } = begin();
  facts.become(undefined);
  await run();
  expect(own()).toBeUndefined();
  expect(log.messages('info')).toContain('Waiting to create services ConfigMap');
  facts.become({});
  await settle();
  expect(own()).toBeDefined();
});

test('checks again after a minute for what no one could tell', async () => {
  const { run, clock, log } = begin(unknownFacts());
  await run();
  await clock.advance(60_000);
  await settle();
  expect(log.messages('info').filter(each => each === 'Waiting to create services ConfigMap')).toHaveLength(2);
});

const node = (version: string) => ({
  metadata: {
    name: 'win-1',
    uid: 'u',
    labels: { 'kubernetes.io/os': 'windows' },
    annotations: { [nodeAnnotation.version]: version },
  },
});

test('UPG-04: keeps those of Nodes that are yet to be adopted, until no Node has them any more', async () => {
  const { run, api, writes, log } = begin();
  api.put(configMaps, map());
  api.put(configMaps, map({}, 'v1'));
  api.put(nodes, node('v1'));
  await run();
  expect(writes()).toEqual([]);
  api.put(nodes, node(benchVersion));
  await settle();
  expect(writes()).toEqual(['delete windows-services-v1']);
  expect(log.messages('info')).toContain('Deleted outdated resource');
});

const instance = (version: string) => ({
  metadata: { name: 'instance', namespace },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host: { name: 'win-1', addresses: [] }, version },
});

test('UPG-04: keeps that of the recorded version until the record says another', async () => {
  const { run, api, writes } = begin();
  api.put(configMaps, map());
  api.put(configMaps, map({}, 'v1'));
  api.put(windowsInstances, instance('v1'));
  await run();
  expect(writes()).toEqual([]);
  api.put(windowsInstances, instance(benchVersion));
  await settle();
  expect(writes()).toEqual(['delete windows-services-v1']);
});

test('restores that of a former version that hosts run when a user deletes it', async () => {
  const { run, api, writes } = begin();
  const content = { services: '[]', files: '[]' };
  api.put(configMaps, map());
  api.put(configMaps, map({ data: content }, 'v1'));
  api.put(windowsInstances, instance('v1'));
  await run();
  api.remove(configMaps, 'windows-services-v1', namespace);
  await settle();
  expect(api.peek(configMaps, 'windows-services-v1', namespace)).toMatchObject({ data: content, immutable: true });
  expect(writes()).toEqual(['create windows-services-v1']);
  api.put(windowsInstances, instance(benchVersion));
  await settle();
  expect(writes()).toEqual(['create windows-services-v1', 'delete windows-services-v1']);
});

test('reports once that of a former version that was deleted before', async () => {
  const { run, api, events, writes } = begin();
  api.put(configMaps, map());
  api.put(windowsInstances, instance('v1'));
  await run();
  api.put(nodes, node('v1'));
  await settle();
  expect(events).toEqual([expect.stringContaining('ConfigMap windows-services-v1 was deleted')]);
  expect(writes()).toEqual([]);
});

test('UPG-04: keeps unused ones while the operator is being uninstalled', async () => {
  const { run, api, writes, parts } = begin();
  parts.installation.problem = async () => 'Namespace wmco is being deleted';
  api.put(configMaps, map({}, 'v1'));
  await run();
  expect(writes()).toEqual(['create windows-services-own']);
});

test('a Node that an instance is bound to keeps no ConfigMap by what it says of itself', async () => {
  const { run, api, writes } = begin();
  api.put(configMaps, map());
  api.put(configMaps, map({}, 'v1'));
  api.put(windowsInstances, instance(benchVersion));
  api.put(nodes, node('v1'));
  await run();
  expect(writes()).toEqual(['delete windows-services-v1']);
});

test('does not look at every heartbeat of a Node', async () => {
  const { run, api, log } = begin();
  api.put(nodes, node('v1'));
  await run();
  const before = log.lines.length;
  api.put(nodes, { ...node('v1'), status: { conditions: [{ type: 'Ready', status: 'True' }] } });
  await settle();
  expect(log.lines).toHaveLength(before);
});

test('pays no heed to other ConfigMaps', async () => {
  const { run, api, writes } = begin();
  api.put(configMaps, map());
  await run();
  api.put(configMaps, { metadata: { name: 'windows-instances', namespace }, data: {} });
  await settle();
  expect(writes()).toEqual([]);
});

test('deletes only the object that it has looked at', async () => {
  const { run, api, own } = begin();
  api.put(configMaps, map({ data: {} }));
  api.isPaused = true;
  const good = api.put(configMaps, { ...map(), metadata: { name, namespace, uid: 'somebody-else' } });
  await run();
  expect(own()?.metadata.uid).toBe(good.metadata.uid);
});

const faults: [name: string, verb: string, code: number, reason: string][] = [
  ['one that came a moment ago', 'create', 409, 'AlreadyExists'],
  ['one that is gone already', 'delete', 404, 'NotFound'],
  ['one that was replaced a moment ago', 'delete', 409, 'Conflict'],
];
for (const [text, verb, code, reason] of faults) {
  test(`is not troubled by ${text}`, async () => {
    const { run, api, log } = begin();
    if (verb === 'delete') api.put(configMaps, map({ data: {} }));
    api.before = call => {
      if (call.verb === verb) throw refused(code, reason);
    };
    await run();
    expect(log.messages('error')).toEqual([]);
  });
}

test('retries after a failure of the server', async () => {
  const { run, api, clock, own, log } = begin();
  let left = 2;
  api.before = ({ verb }) => {
    if (verb === 'create' && left-- > 0) throw refused(500, 'InternalError');
  };
  await run();
  expect(own()).toBeUndefined();
  await clock.advance(10_000);
  expect(own()).toBeDefined();
  expect(log.messages('error')).toEqual(['Reconcile failed; retrying', 'Reconcile failed; retrying']);
});
