import { expect, test } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation, secretName } from '../../src/contract/names.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { printPublicKey, publicKeyHash } from '../../src/host/keys/public-key.ts';
import { events, nodes, secrets } from '../../src/kube/resources.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { newPrivateKey } from '../kit/new-private-key.ts';
import { administratorOf, startOperator } from '../kit/sandbox-operator.ts';
import { until } from '../kit/until.ts';

/** An administrator puts something into the Secret of the private key that is none. */
test('while the Secret has no usable key, hosts that work are still served, also after a restart; then the new key counts', {
  timeout: 120_000,
}, async () => {
  await using sandbox = await startSandbox({ hosts: 2, listsNames: true, speed: 10 });
  const { namespace } = sandbox;
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const start = () => startOperator(sandbox, { payloadBytes: 200_000 });
  const instance = (name: string) => client.get(windowsInstances, name, { namespace });
  const putKey = (text: string) =>
    client.patch(
      secrets,
      secretName.privateKey,
      { type: 'merge', body: { data: { 'private-key.pem': toBase64(text) } } },
      { namespace },
    );
  const [first, second] = [sandbox.privateKey.reveal(), newPrivateKey()].map(pem => {
    const { publicKey } = parsePrivateKey(pem);
    return { pem, hash: publicKeyHash(publicKey), line: printPublicKey(publicKey) };
  });
  if (first === undefined || second === undefined) throw new Error('no keys');

  const operator = start();
  await operator.allReady(2);
  await putKey('planted: no key');
  await operator.stop();
  await using _restarted = start();
  const reason = async () => (await client.list(events, { namespace })).items.map(each => each.reason);
  await until(async () => (await reason()).includes('PrivateKeyUnusable'), 'the Secret is reported');

  // A reboot needs the host, and more than once.
  const { reboots } = sandbox.host('win-1').stats;
  const annotations = { [instanceAnnotation.reboot]: 'now' };
  await client.patch(windowsInstances, 'win-1', { type: 'merge', body: { metadata: { annotations } } }, { namespace });
  await until(async () => sandbox.host('win-1').stats.reboots > reboots, 'win-1 is rebooted');
  await until(async () => (await instance('win-1')).status?.phase === 'Ready', 'win-1 is back');
  for (const name of ['win-1', 'win-2']) {
    expect((await instance(name)).status?.key).toMatchObject({ hash: first.hash });
    expect((await client.get(nodes, name)).metadata.annotations?.[nodeAnnotation.pubKeyHash]).toBe(first.hash);
  }

  await sandbox.host('win-1').setAuthorizedKeys([second.line]);
  await putKey(second.pem);
  await until(async () => (await instance('win-1')).status?.key?.hash === second.hash, 'win-1 has the second key');
  await until(async () => (await instance('win-2')).status?.key?.pending?.hash === second.hash, 'win-2 waits for it');
  expect((await instance('win-2')).status?.key).toMatchObject({ hash: first.hash });
});
