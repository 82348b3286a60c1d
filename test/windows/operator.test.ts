import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentName, configMapName, nodeAnnotation } from '../../src/contract/names.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { authorizedKey } from '../../src/host/keys/public-key.ts';
import { clusterRoleBindings, configMaps, events, nodes, roleBindings } from '../../src/kube/resources.ts';
import { traces } from '../kit/winhost/furnished-host.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { seededRandom } from '../kit/winhost/interruption.ts';
import { nextOperator } from '../kit/winhost/next-operator.ts';
import { hostChecks } from '../kit/winhost/real-host-checks.ts';
import { createControl, createMachines, createMembers, domain, machineName } from '../kit/winhost/real-members.ts';
import { nodeChecks } from '../kit/winhost/real-node-checks.ts';
import type { OperatorProcess } from '../kit/winhost/real-operator.ts';
import {
  deleteEntry,
  drawMoments,
  isRemoved,
  killAt,
  killCommands,
  objectsOf,
  type StepTime,
  stepTimes,
  untilRemoved,
} from '../kit/winhost/real-removal.ts';
import { type RealScene, startRealScene } from '../kit/winhost/real-scene.ts';
import { findSecrets, plantedSecrets } from '../kit/winhost/real-secrets.ts';
import { type SeenMember, type Sessions, seeMember, seeSessions, stepSeconds } from '../kit/winhost/real-sight.ts';

/** The operator as a process with a real API server and hosts over SSH. */

const names = ['win-1', 'win-2', 'win-3', machineName];

let scene: RealScene;
let operator: OperatorProcess;
let userData = '';
let control: WindowsHost;
let secrets: string[] = [];
let removalSteps: StepTime[] = [];
const seen = new Map<string, SeenMember>();
const sessions = new Map<string, Sessions>();

beforeAll(async () => {
  scene = await startRealScene(inject('agentProgram'));
  const members = await createMembers(scene);
  control = await createControl(scene);
  operator = await scene.startOperator('first');
  await operator.waitForLog('Became the leader');
  await operator.waitForLog('Secret cloud-private-key missing');
  await scene.givePrivateKey();
  const startMs = performance.now();
  const [ofMachine, ...listed] = members.toReversed();
  await scene.list(listed.map(({ instance }) => instance));
  if (ofMachine !== undefined) userData = await createMachines(scene, ofMachine);
  await scene.ready(
    members.map(({ instance }) => instance),
    operator,
  );
  console.log(`${members.length} hosts are nodes after ${Math.round(performance.now() - startMs)} ms`);
  // Counts sessions first, because the checks open some.
  for (const { name, host } of members) sessions.set(name, seeSessions(scene, host));
  for (const member of members) seen.set(member.name, await seeMember(scene, member));
  for (const name of names) console.log(name, JSON.stringify(sessions.get(name)), stepSeconds(seenOf(name)));
});
afterAll(() => scene?.[Symbol.asyncDispose]());

function seenOf(name: string): SeenMember {
  const found = seen.get(name);
  if (found === undefined) throw new Error(`${name} was not looked at`);
  return found;
}

function hostOf(name: string): WindowsHost {
  return seenOf(name).host;
}

for (const name of names) {
  for (const [title, look] of [...nodeChecks, ...hostChecks]) test(`${name}: ${title}`, () => look(seenOf(name)));
}

test('a join needs few sessions and sends nothing twice', () => {
  for (const name of names) {
    const { commands, transfers } = sessions.get(name) ?? { commands: NaN, transfers: NaN };
    // One SFTP session for each connection that sends files; some hosts are rebooted in between.
    expect([name, transfers]).toEqual([name, 1 + seenOf(name).reboots]);
    expect(commands + transfers).toBeLessThanOrEqual(15);
  }
});

test('OP-01, OP-05: the operator runs without a private key and creates the shared objects of agents', async () => {
  const { admin, namespace, version } = scene;
  expect(/"version":"([^"]+)"/.exec(operator.log)?.[1]).toBe(version);
  const services = await admin.get(configMaps, servicesConfigMapName(version), { namespace });
  expect(services.immutable).toBe(true);
  const shared = { subjects: [{ kind: 'ServiceAccount', name: agentName, namespace }], roleRef: { name: agentName } };
  expect(await admin.get(roleBindings, agentName, { namespace })).toMatchObject(shared);
  expect(await admin.get(clusterRoleBindings, agentName)).toMatchObject(shared);
});

test('NODE-03: Linux nodes have no mark of the operator', async () => {
  const { metadata } = await scene.admin.get(nodes, 'east-master-0');
  const annotations = Object.keys(metadata.annotations ?? {});
  expect(annotations.filter(name => name === nodeAnnotation.version || name === nodeAnnotation.pubKeyHash)).toEqual([]);
});

test('SEC-01, CRE-M-07: the user data of the Machine allow only the operator to log in', () => {
  expect(userData).toMatch(/^<powershell>[^]*<\/powershell>\n<persist>true<\/persist>\n$/);
  const line = authorizedKey(parsePrivateKey(scene.privateKey).publicKey).trim();
  expect(userData.match(/^ssh-.*$/gm)).toEqual([line]);
});

test('CRE-M-01, CRE-M-02: the host of the Machine is renamed, the ignored Machine has no instance', async () => {
  const { seenInstance, host } = seenOf(machineName);
  expect(seenInstance.spec).toMatchObject({ hostname: machineName, username: 'Administrator', address: host.address });
  const steps = seenInstance.status?.timeline?.map(({ name }) => name);
  expect(steps).toEqual(expect.arrayContaining(['rename', 'containers feature', 'reboot']));
  expect((await scene.instances()).map(({ metadata }) => metadata.name)).not.toContain('ignored');
});

test('CRE-B-01: the second host is found by DNS name', () => {
  expect(scene.names.questions).toContain(`A win-2.${domain}`);
  expect(seenOf('win-2').seenInstance).toMatchObject({
    spec: { address: `win-2.${domain}` },
    status: { ipv4: seenOf('win-2').host.address },
  });
});

test('the operator had all permissions, warned only of the lab itself, and its doubles had no errors', async () => {
  const { items } = await scene.admin.listAll(events);
  // The kubelet of the lab listens on no port.
  const warnings = items.filter(({ type, reason }) => type !== 'Normal' && reason !== 'KubeletUnreachable');
  // The lab has no real TLS pair, and vSphere with the default VXLAN port.
  expect(warnings.map(({ reason, message }) => `${reason}: ${message}`).toSorted()).toEqual([
    expect.stringContaining('ClusterUnsuitable: NETWORK_VXLAN_PORT_TAKEN'),
    expect.stringContaining('ExporterCertificateUnusable: TLS_PAIR_INVALID'),
  ]);
  expect(operator.log.split('\n').filter(line => /"level":"error"|forbidden/i.test(line))).toEqual([]);
  expect(scene.otherOperators.errors).toEqual([]);
});

test('a replacement of the operator changes nothing', async () => {
  const all = names.map(seenOf);
  const served = all.map(({ host }) => seeSessions(scene, host));
  await operator.kill();
  operator = await nextOperator(scene, 'second');
  await operator.waitForLog('Became the leader');
  await operator.waitUntilIdle('lifecycle', all.length);
  expect(all.map(({ host }) => seeSessions(scene, host))).toEqual(served);
  for (const before of all) {
    const { node, services, host, seenInstance } = await seeMember(scene, before);
    expect(services).toEqual(before.services);
    expect(node.metadata.annotations).toEqual(before.annotations);
    expect(node.metadata.labels).toEqual(before.node.metadata.labels);
    expect(seenInstance.status?.timeline).toEqual(before.seenInstance.status?.timeline);
    expect(host.boots).toBe(1 + before.reboots);
  }
});

test('CRE-B-05: an added entry affects only its own host, and a dead one affects no other', async () => {
  const { admin, namespace, lab } = scene;
  const served = names.map(name => seeSessions(scene, seenOf(name).host));
  const dead = lab.address.replace(/\d+$/, '250');
  const setEntry = (value: string | null) =>
    admin.patch(
      configMaps,
      configMapName.instances,
      { type: 'merge', body: { data: { [dead]: value } } },
      { namespace },
    );
  await setEntry('username=Administrator');
  const complaint = async () => (await admin.listAll(events)).items.find(({ message }) => message?.includes(dead));
  await expect.poll(complaint, { timeout: 60_000 }).toMatchObject({
    type: 'Warning',
    reason: 'InstanceSetupFailure',
    message: expect.stringMatching(/^HOST_UNREACHABLE: /),
  });
  const phases = (await scene.instances()).map(({ metadata, status }) => [metadata.name, status?.phase]);
  expect(phases.filter(([, phase]) => phase !== 'Ready').map(([name]) => name)).toEqual([dead]);
  await setEntry(null);
  await scene.ready([], operator);
  expect(names.map(name => seeSessions(scene, seenOf(name).host))).toEqual(served);
});

test('NODE-15: a removed version annotation is restored without a restart', async () => {
  const { admin, version } = scene;
  const before = seenOf('win-1');
  const annotations = { [nodeAnnotation.version]: null };
  await admin.patch(nodes, 'win-1', { type: 'merge', body: { metadata: { annotations } } });
  const versionNow = async () => (await admin.get(nodes, 'win-1')).metadata.annotations?.[nodeAnnotation.version];
  await expect.poll(versionNow, { timeout: 120_000 }).toBe(version);
  await scene.ready([before.instance], operator);
  const { services, host, node } = await seeMember(scene, before);
  expect([services, host.boots]).toEqual([before.services, 1 + before.reboots]);
  expect(node.spec?.unschedulable ?? false).toBe(false);
});

test('DEL-02, DEL-03: a removed host equals a host that never joined, and files of users survive', async () => {
  // Files on the hosts have some of them, which a removal deletes.
  secrets = plantedSecrets(scene, names.map(hostOf));
  const member = seenOf('win-3');
  // Shows that the same search finds nothing at the end only because nothing is left.
  expect(await objectsOf(scene, member)).toEqual(
    expect.arrayContaining(['Node win-3', 'ConfigMap wicd-report-win-3', `WindowsInstance ${member.instance}`]),
  );
  await deleteEntry(scene, member);
  await untilRemoved(scene, member, operator);
  removalSteps = stepTimes(operator, member);
  console.log('removal:', removalSteps.map(({ step, ms }) => `${step} ${ms} ms`).join(', '));
  await checkRemoved(member);
  await expect.poll(() => removalEvents(member)).toEqual(['ConfigMap', 'WindowsInstance']);
});

test('a removal ends the same after five kills of the operator at random moments', async () => {
  const seed = Number(process.env['KILLS_SEED'] ?? 4);
  const member = seenOf('win-1');
  await deleteEntry(scene, member);
  for (const [index, moment] of drawMoments(removalSteps, 5, seededRandom(seed)).entries()) {
    if (await isRemoved(scene, member)) break;
    const step = await killAt(operator, member, moment);
    // Every second time a command that runs on the host ends, too; else it competes with that of the next operator.
    const ended = index % 2 === 1 ? killCommands(member) : 0;
    console.log(
      `seed ${seed}: killed in ${step}, wanted ${moment.step} + ${Math.round(moment.ms)} ms, and ${ended} commands`,
    );
    operator = await nextOperator(scene, `after kill ${index + 1}`);
  }
  await untilRemoved(scene, member, operator);
  await checkRemoved(member);
});

async function checkRemoved(member: SeenMember): Promise<void> {
  expect(await traces(member.host, control)).toEqual([]);
  // Kubernetes deletes the Lease of the Node.
  await expect.poll(() => objectsOf(scene, member)).toEqual([]);
  const others = (await scene.instances()).map(({ metadata, status }) => [metadata.name, status?.phase]);
  expect(others.filter(([, phase]) => phase !== 'Ready')).toEqual([]);
}

/** Kinds of the objects that have the event of the contract. */
async function removalEvents({ host }: SeenMember): Promise<string[]> {
  const { items } = await scene.admin.listAll(events);
  const start = `Deconfigured node with addresses [${host.address}`;
  const found = items.filter(each => each.reason === 'InstanceTeardown' && each.message?.startsWith(start));
  return [...new Set(found.map(({ involvedObject }) => involvedObject?.kind ?? ''))].toSorted();
}

test('no log, event, status or ConfigMap contains a secret', async () => {
  // Private key, TLS key, login, and the tokens of the operator and of each host, plain and in base64.
  expect(secrets.length).toBeGreaterThanOrEqual(2 * (3 + 3 + 1 + 2 * names.length));
  expect(await findSecrets(scene, secrets, names.map(hostOf))).toEqual([]);
});
