import { generateKeyPairSync } from 'node:crypto';
import { toBase64 } from '#base/bytes.ts';
import { timestamp } from '#base/clock.ts';
import { findCondition } from '#base/condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation, secretKey, secretName } from '#contract/names.ts';
import { authorizedKeysFile } from '#contract/paths.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { describeKey, printPublicKey, type PublicKey, publicKeyHash } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { type WatchedCluster, watchCluster } from '../../status/cluster-reader.ts';
import { durationText } from '../../status/view/amounts.ts';
import { say, showJoin, showUntil, storyError, type StoryDeps } from './telling.ts';

const hosts = ['win-1', 'win-2'];

/** Shows a newcomer how another private key reaches hosts, and that none is locked out before. */
export async function playRotateStory(deps: StoryDeps): Promise<void> {
  const { terminal, client, sandbox, signal } = deps;
  const { clock } = terminal;
  const { namespace } = sandbox;
  const started = clock.monotonicMs();
  await using cluster = await watchCluster({ client, namespace, clock }, signal);
  await showJoin(hosts, cluster, deps);
  for (const name of hosts) say(deps, `   ${name} accepts ${keyOf(name, cluster)?.fingerprint}`);
  const key = await showReplacement(deps);
  await showRejection(key, cluster, deps);
  for (const [index, name] of hosts.entries()) await showAuthorization(name, key, index, { cluster, deps });
  await showEnd(key, cluster, deps);
  const time = durationText(clock.monotonicMs() - started);
  say(deps, '', `That was all, in ${time}. No Node was out of service, and no host was out of reach.`);
}

async function showReplacement(deps: StoryDeps): Promise<PublicKey> {
  const { client, sandbox, signal } = deps;
  const { namespace } = sandbox;
  const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const { publicKey } = parsePrivateKey(pem);
  say(deps, '', '2. The private key is replaced by another one');
  say(deps, `   ssh-keygen -t ed25519 -N '' -C windows -f new-windows-key`);
  say(
    deps,
    `   kubectl create secret generic ${secretName.privateKey} -n ${namespace} --from-file=${secretKey.privateKey}=new-windows-key --dry-run=client -o yaml | kubectl apply -f -`,
  );
  const body = { data: { [secretKey.privateKey]: toBase64(pem) } };
  await client.patch(secrets, secretName.privateKey, { type: 'merge', body }, { namespace, signal });
  say(deps, `   The new key is ${describeKey(publicKey)}.`);
  return publicKey;
}

async function showRejection(key: PublicKey, cluster: WatchedCluster, deps: StoryDeps): Promise<void> {
  say(deps, '', '3. Hosts do not know it yet: the operator goes on with the former key, and says what to do');
  const hash = publicKeyHash(key);
  const isAsked = () => hosts.every(name => keyOf(name, cluster)?.pending?.hash === hash);
  await showUntil('both hosts to reject the new key', isAsked, cluster, deps);
  const conditions = cluster.view().instances.find(({ metadata }) => metadata.name === hosts[0])?.status?.conditions;
  const { status, reason, message = '' } = findCondition(conditions, instanceCondition.keyCurrent) ?? {};
  say(deps, `   WindowsInstance ${hosts[0]}: condition ${instanceCondition.keyCurrent} is ${status}, reason ${reason}`);
  if (!message.includes(printPublicKey(key))) throw storyError(`the condition of ${hosts[0]} has no line to add`);
  for (const sentence of message.split(/(?<=\.) (?=Run )/)) say(deps, `   ${sentence}`);
}

/** As an administrator does it on the host. */
async function showAuthorization(
  name: string,
  key: PublicKey,
  index: number,
  { cluster, deps }: { cluster: WatchedCluster; deps: StoryDeps },
): Promise<void> {
  const { client, sandbox, signal, terminal } = deps;
  const { namespace } = sandbox;
  say(deps, '', `${4 + index}. The line is added on ${name}, and the operator asks again at once`);
  const before = (await sandbox.readFile(name, authorizedKeysFile)) ?? '';
  await sandbox.setAuthorizedKeys(name, [...before.split(/\r?\n/).filter(line => line !== ''), printPublicKey(key)]);
  say(deps, `   kubectl annotate wi ${name} -n ${namespace} --overwrite ${instanceAnnotation.retry}="$(date)"`);
  const annotations = { [instanceAnnotation.retry]: `${timestamp(terminal.clock.now())} ${name}` };
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
  await client.patch(windowsInstances, name, patch, { namespace, signal });
  const accepts = () => keyOf(name, cluster)?.hash === publicKeyHash(key);
  await showUntil(`${name} to accept the new key`, accepts, cluster, deps);
  say(deps, `   ${name} accepts ${keyOf(name, cluster)?.fingerprint}; you can remove the former line`);
}

async function showEnd(key: PublicKey, cluster: WatchedCluster, deps: StoryDeps): Promise<void> {
  const { client, sandbox, signal } = deps;
  const { namespace } = sandbox;
  say(deps, '', '6. What is left');
  const hash = publicKeyHash(key);
  for (const { name, annotations } of cluster.view().nodes) {
    if (annotations[nodeAnnotation.pubKeyHash] !== hash) throw storyError(`Node ${name} has the hash of another key`);
    say(deps, `   Node ${name}: annotation ${nodeAnnotation.pubKeyHash} is ${hash.slice(0, 12)}…`);
  }
  const { clock } = deps.terminal;
  const stored = async () =>
    Object.keys((await client.get(secrets, secretName.privateKeys, { namespace, signal })).data ?? {});
  for (const endMs = clock.monotonicMs() + deps.timeoutMs; ; await clock.sleep(200, signal)) {
    const former = (await stored()).filter(each => /^[0-9a-f]{64}$/.test(each) && each !== hash);
    if (former.length === 0) break;
    if (clock.monotonicMs() > endMs) throw storyError(`Secret ${secretName.privateKeys} still has a former key`);
  }
  say(deps, `   Secret ${secretName.privateKeys}: the former key is deleted, because no host needs it`);
}

function keyOf(name: string, cluster: WatchedCluster) {
  return cluster.view().instances.find(({ metadata }) => metadata.name === name)?.status?.key;
}
