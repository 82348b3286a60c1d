import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { authorizedKey } from '#host/keys/public-key.ts';
import { userData } from '#node/desired/user-data/user-data.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';
import { scaledClock } from '../clocks.ts';
import { Fleet } from '../fleet.ts';
import { ContentStore } from '../host/content-store.ts';
import { createCloud } from './cloud.ts';

async function scene(platform = 'None', faults: Parameters<typeof createCloud>[0]['faults'] = new Map()) {
  const store = await ContentStore.open();
  const delays = scaledClock(systemClock, 1000);
  const fleet = new Fleet({ store, clock: systemClock, delays, agentVersion: 'x', onChange: () => undefined });
  return {
    fleet,
    cloud: createCloud({ fleet, platform, faults }),
    async [Symbol.asyncDispose]() {
      await fleet.stop();
      await store.close();
    },
  };
}

const { key } = makeKey();
const script = (platform = 'None') => userData(platform, authorizedKey(key.publicKey));

for (const platform of ['None', 'AWS', 'GCP', 'Azure']) {
  test(`a host lets in the key that the user data for ${platform} hold`, async () => {
    await using made = await scene();
    made.cloud.create('m', script(platform));
    expect(made.fleet.host('m').spec.authorizedKeys.map(authorizedKey)).toEqual([authorizedKey(key.publicKey)]);
  });
}

const others: [string, string, number][] = [
  ['no key', 'Write-Output hello', 0],
  ['a broken key', 'ssh-ed25519 AAAA', 0],
  ['two keys', `${authorizedKey(makeKey().key.publicKey)}${authorizedKey(makeKey('ecdsa').key.publicKey)}`, 2],
  ['a key with a comment', authorizedKey(key.publicKey).replace('\n', ' somebody@here\n'), 1],
];
for (const [name, text, count] of others) {
  test(`user data with ${name} authorize ${count} keys`, async () => {
    await using made = await scene();
    made.cloud.create('m', text);
    expect(made.fleet.host('m').spec.authorizedKeys).toHaveLength(count);
  });
}

test('a host boots first and then answers', async () => {
  await using made = await scene();
  const { address, providerId } = made.cloud.create('m', script());
  expect(made.fleet.at(address)?.route()).toBe('refused');
  expect(providerId).toMatch(/^sandbox:\/\/\/[\w-]+$/);
  await expect.poll(() => made.fleet.host('m').isOn).toBe(true);
});

const names: [string, RegExp][] = [
  ['None', /^winworker-1$/],
  ['Azure', /^winworker-1$/],
  ['VSphere', /^WIN-[0-9A-F]{11}$/],
  ['Nutanix', /^WIN-[0-9A-F]{11}$/],
];
for (const [platform, hostName] of names) {
  test(`on ${platform} a new machine is called like ${hostName.source}`, async () => {
    await using made = await scene(platform);
    made.cloud.create('winworker-1', script());
    expect(made.fleet.host('winworker-1').state.hostName).toMatch(hostName);
  });
}

test('on Azure there is another user', async () => {
  await using made = await scene('Azure');
  made.cloud.create('m', script());
  expect(made.fleet.host('m').spec.user).toBe('capi');
});

test('a Machine has the faults of its name', async () => {
  await using made = await scene(
    'None',
    new Map([
      ['a', ['no-sftp']],
      ['c', ['german']],
    ]),
  );
  for (const name of ['a', 'b', 'c', 'd']) made.cloud.create(name, script());
  expect(made.fleet.hosts.map(({ spec }) => [spec.traits.hasSftp, spec.traits.language])).toEqual([
    [false, 'english'],
    [true, 'english'],
    [true, 'german'],
    [true, 'english'],
  ]);
});

test('a host is removed with its Machine; a missing one is ignored', async () => {
  await using made = await scene();
  made.cloud.create('m', script());
  made.cloud.remove('m');
  made.cloud.remove('never');
  expect(made.fleet.hosts).toEqual([]);
});
