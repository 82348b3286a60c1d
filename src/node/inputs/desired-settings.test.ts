import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { parseDesiredServices } from '#contract/services/hash.ts';
import { defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { DesiredSettings, type SettingsSources } from './desired-settings.ts';

const sources = (over: Partial<SettingsSources> = {}): SettingsSources => ({
  facts: defaultFacts,
  tls: { certificate: 'C', key: new Secret('K') },
  registries: { 'quay.io\\hosts.toml': 'one' },
  version: 'v1',
  servicesHash: 'a'.repeat(32),
  kubeletProfiles: [],
  salt: new Secret('salt'),
  ...over,
});

function begin() {
  const [clock, logged] = [manualClock(), recordedLog()];
  let reads = 0;
  let now: () => SettingsSources = sources;
  const read = () => {
    reads += 1;
    return now();
  };
  const desired = new DesiredSettings({ read, clock, log: logged.log });
  let calls = 0;
  desired.onChange(() => (calls += 1));
  const become = async (next: () => SettingsSources, times = 1) => {
    now = next;
    for (let left = times; left > 0; left -= 1) desired.invalidate();
    await clock.advance(100);
    await settle();
  };
  return { desired, become, logged, counts: () => ({ reads, calls }) };
}

test('is computed once for all hosts, and packed once', async () => {
  const { desired, counts } = begin();
  const settings = desired.get();
  expect(desired.get()).toBe(settings);
  expect(counts().reads).toBe(1);
  expect(settings?.texts()).toBe(settings?.texts());
  expect(parseDesiredServices(settings?.services)).toMatchObject({ version: 'v1', hash: 'a'.repeat(32) });
  expect(settings?.mirrors).toEqual(['quay.io\\hosts.toml']);
});

test('many changes at once are one, and a change of nothing is none', async () => {
  const { become, counts } = begin();
  await become(() => sources({ registries: {} }), 20);
  expect(counts()).toEqual({ reads: 2, calls: 1 });
  await become(() => sources({ registries: {} }), 3);
  expect(counts().calls).toBe(1);
});

test('while something is missing hosts keep what they have, and are told when it is there again', async () => {
  const { desired, become, counts, logged } = begin();
  const before = desired.get();
  await become(() => {
    throw new AppError('MATERIAL_MISSING', 'no TLS pair', { remedy: 'Wait.' });
  });
  expect([desired.get(), counts().calls]).toEqual([undefined, 1]);
  expect(logged.messages('info')).toContain('Settings of hosts are not complete; hosts keep theirs');
  const missing = logged.messages('info').length;
  await become(() => {
    throw new AppError('MATERIAL_MISSING', 'no TLS pair', { remedy: 'Wait.' });
  });
  expect(logged.messages('info')).toHaveLength(missing);
  await become(sources);
  expect([desired.get()?.liveHash, counts().calls]).toEqual([before?.liveHash, 2]);
});

test('a malformed file of the worker pool is a problem, never a crash', async () => {
  const { desired, become, counts } = begin();
  const path = '/etc/kubernetes/credential-providers/ecr-credential-provider.yaml';
  const facts = { ...defaultFacts, platform: 'AWS', workerFiles: { [path]: 'providers: {a: 1}' } };
  await become(() => sources({ facts }));
  expect([desired.get(), desired.get({ a: 'b' }), desired.problem?.code]).toEqual([
    undefined,
    undefined,
    'IGNITION_MALFORMED',
  ]);
  await become(sources);
  expect([desired.problem, counts().calls]).toEqual([undefined, 2]);
});

test('another SSH key changes nothing, unless a file of services may hold a password', async () => {
  const { become, counts } = begin();
  await become(() => sources({ salt: new Secret('other') }));
  expect(counts().calls).toBe(0);
  const path = '/etc/kubernetes/cloud.conf';
  const facts = { ...defaultFacts, kubeletArguments: { 'cloud-config': path }, workerFiles: { [path]: 'password' } };
  await become(() => sources({ facts }));
  await become(() => sources({ facts, salt: new Secret('other') }));
  expect(counts().calls).toBe(2);
});

test('hosts with other labels have other settings of the kubelet, and the same files that take effect at once', async () => {
  const profile = { name: 'gpu', priority: 0, selector: { gpu: 'yes' }, settings: { maxPods: 20 }, label: 'x' };
  const { desired, become, counts } = begin();
  await become(() => sources({ kubeletProfiles: [profile] }));
  expect(counts().calls).toBe(1);
  const [plain, gpu] = [desired.get({ os: 'windows' }), desired.get({ gpu: 'yes' })];
  expect(plain?.liveHash).toBe(gpu?.liveHash);
  expect(plain?.services).not.toBe(gpu?.services);
  expect(desired.get({ gpu: 'yes', os: 'windows' })).toBe(gpu);
});
