import { expect, test } from 'vitest';
import { type Clock, systemClock } from '#base/clock.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, instanceAnnotation, nodeLabel } from '#contract/names.ts';
import type { WindowsInstanceSpec, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { printHostKey } from '#host/host-key.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import { address, type JoinLab, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { anyKey, type LabHost, unreachable } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

type Arrange = (lab: JoinLab, host: LabHost) => void | Promise<void>;

const refusal = (code: ErrorCode) => new AppError(code, `${address}: refused`, { remedy: 'Do something about it.' });
const says = (exitCode: number, stderr: string, stdout = '') => ({ exitCode, stderr, stdout });

/** The agent answers a verb with a failure of its own. */
const failing = (verb: string, code: ErrorCode) => (command: string) =>
  command.includes(` ${verb} `)
    ? says(1, '', JSON.stringify({ error: { code, message: `${verb} failed`, remedy: 'Look at it.' } }))
    : undefined;

/** The inventory is otherwise in some respect. */
const seen =
  (change: (found: Record<string, unknown>) => object): Arrange =>
  (_lab, host) =>
    void (host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, ...change(data) } : data));

const cases: [name: string, code: ErrorCode, step: string, Arrange][] = [
  [
    'does not answer',
    'HOST_UNREACHABLE',
    'connect',
    (_, host) => void (host.faults.connect = () => fail(unreachable(address))),
  ],
  [
    'refuses the key',
    'HOST_REFUSED_KEY',
    'connect',
    (_, host) => void (host.faults.connect = () => fail(refusal('HOST_REFUSED_KEY'))),
  ],
  [
    'wants a password',
    'HOST_WANTS_PASSWORD',
    'connect',
    (_, host) => void (host.faults.connect = () => fail(refusal('HOST_WANTS_PASSWORD'))),
  ],
  ['shows another host key', 'HOST_KEY_CHANGED', 'connect', lab => storeKey(lab, printHostKey(anyKey()))],
  ['has a stored key that cannot be read', 'HOST_KEY_UNREADABLE', 'connect', lab => storeKey(lab, 'nonsense')],
  [
    'has a user without rights',
    'HOST_NOT_ADMINISTRATOR',
    'preflight',
    (_, host) => void (host.model.isAdministrator = false),
  ],
  [
    'runs a Windows too old',
    'HOST_SYSTEM_UNSUPPORTED',
    'preflight',
    (_, host) => void (host.model.state.os.build = '10.0.14393.1'),
  ],
  ['has no room', 'HOST_DISK_FULL', 'preflight', (_, host) => void (host.model.files.diskBytes = 1e6)],
  [
    'has a wrong clock',
    'HOST_CLOCK_WRONG',
    'preflight',
    seen(({ probe }) => ({ probe: { ...(probe as object), clockAheadMs: 900_000 } })),
  ],
  [
    'cannot reach the API server',
    'HOST_API_UNREACHABLE',
    'preflight',
    seen(() => ({ probe: { url: 'https://x', problem: 'ETIMEDOUT' } })),
  ],
  ['has a name that no Node can have', 'HOST_NAME_INVALID', 'node name', seen(() => ({ nodeName: 'win_5' }))],
  ['has the name of another Node', 'HOST_NAME_TAKEN', 'node name', lab => registerNamesake(lab)],
  [
    'has a containerd of somebody else',
    'HOST_SERVICE_FOREIGN',
    'preflight',
    (_, host) => void host.model.services.install('containerd'),
  ],
  ['has a port in use', 'HOST_PORT_TAKEN', 'preflight', (_, host) => void (host.model.listeningPorts = [22, 10250])],
  [
    'lets no agent run',
    'AGENT_UNUSABLE',
    'inventory',
    (_, host) => void (host.faults.exec = () => says(0xc0000022, 'Zugriff verweigert')),
  ],
  [
    'has an agent whose native part is broken',
    'WINDOWS_NATIVE_UNUSABLE',
    'secure folders',
    (_, host) => void (host.faults.exec = failing('secure', 'WINDOWS_NATIVE_UNUSABLE')),
  ],
  [
    'lets users write where the agent runs',
    'HOST_FOLDER_UNSAFE',
    'secure folders',
    (_, host) => host.model.files.rights.set('C:\\Windows', { owner: 'S-1-5-18', entries: undefined }),
  ],
  [
    'has a bundle damaged on the way',
    'BUNDLE_DAMAGED',
    'stage programs',
    (_, host) => void (host.faults.exec = failing('stage', 'BUNDLE_DAMAGED')),
  ],
  [
    'has a disk that fills up',
    'HOST_DISK_FULL',
    'agent program',
    (_, host) => void (host.faults.upload = () => fail(refusal('HOST_DISK_FULL'))),
  ],
  [
    'cannot start its services',
    'SERVICES_INCOMPLETE',
    'bootstrap',
    (_, host) =>
      void (host.faults.exec = command =>
        command.includes(' bootstrap ')
          ? says(1, 'SERVICES_INCOMPLETE: kubelet did not run\r\n  -> Look into its log.\r\n')
          : undefined),
  ],
  [
    'ends a command without a word',
    'AGENT_COMMAND_FAILED',
    'bootstrap',
    (_, host) => void (host.faults.exec = command => (command.includes(' bootstrap ') ? says(255, '') : undefined)),
  ],
  [
    'cannot make the service of the agent',
    'WINDOWS_SERVICE_DISABLED',
    'agent service',
    (_, host) => void (host.faults.exec = failing('install', 'WINDOWS_SERVICE_DISABLED')),
  ],
];

function fail(error: Error): never {
  throw error;
}

async function storeKey(lab: JoinLab, key: string): Promise<void> {
  await lab.client.create(configMaps, {
    metadata: { name: configMapName.hostKeys, namespace },
    data: { [address]: key },
  });
}

async function registerNamesake(lab: JoinLab): Promise<void> {
  const labels = { [nodeLabel.os]: 'linux' };
  const node = await lab.client.create<Node>(nodes, { metadata: { name: 'win-5', labels } });
  const status = { addresses: [{ type: 'InternalIP', address: '10.0.0.99' }] };
  await lab.client.replace(nodes, { ...node, status }, { subresource: 'status' });
}

const configured = async (lab: JoinLab) =>
  (await lab.instance()).status?.conditions?.find(({ type }) => type === 'Configured');

for (const [name, code, step, arrange] of cases) {
  test(`a host that ${name}: ${code} as condition, in the timeline and as one event, and the connection closed`, async () => {
    const lab = await startJoinLab();
    const host = lab.host();
    await arrange(lab, host);
    const operator = lab.start();
    await lab.add();
    // The second attempt must not tell again what the first one told.
    const entryOf = ({ timeline = [] }: WindowsInstanceStatus) => timeline.find(one => one.name === step);
    const status = await lab.statusWhen(now => now.phase === 'Failed' && (entryOf(now)?.attempts ?? 0) >= 2);
    await operator.kill();
    expect(status).toMatchObject({ phase: 'Failed', step });
    expect(entryOf(status)?.lastError).toMatchObject({
      code,
      message: expect.stringContaining(code === 'HOST_KEY_UNREADABLE' ? 'data["10.0.0.5"]' : address) as string,
      remedy: expect.stringMatching(/\.$/) as string,
    });
    const condition = status.conditions?.find(({ type }) => type === 'Configured');
    expect(condition).toMatchObject({ status: 'False', reason: code });
    expect(condition?.message).toContain(entryOf(status)?.lastError?.remedy);
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason: code });
    const failures = async () => (await lab.events()).filter(line => line.includes('InstanceSetupFailure')).toSorted();
    await until(async () => (await failures()).length >= 2);
    expect(await failures()).toEqual([
      expect.stringContaining(`ConfigMap windows-instances: InstanceSetupFailure: ${code}: `),
      expect.stringContaining(`WindowsInstance win-5: InstanceSetupFailure: ${code}: `),
    ]);
    expect(host.openConnections).toBe(0);
    expect(host.boots).toBe(1);
  });
}

test('a changed host key has an event of its own', async () => {
  const lab = await startJoinLab();
  lab.host();
  await storeKey(lab, printHostKey(anyKey()));
  lab.start();
  await lab.add();
  await until(async () => (await lab.events()).some(line => line.includes('SSHHostKeyChanged')));
});

test('preflight reports all problems at once', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.files.diskBytes = 1e6;
  host.model.isAdministrator = false;
  host.model.services.install('kubelet');
  // That kubelet belongs to no cluster.
  lab.behavior.noNode = true;
  lab.start();
  await lab.add();
  await until(async () => (await configured(lab))?.reason === 'HOST_NOT_ADMINISTRATOR');
  const { message } = (await configured(lab)) ?? {};
  for (const words of [
    'the user is not an administrator',
    'drive C:',
    'services exist that WMCO did not install: kubelet',
  ]) {
    expect(message).toContain(words);
  }
  expect(host.verbs()).not.toContain('stage');
});

/** A lab with one host that failed first, was put right, and has joined. */
async function mendedLab(): Promise<{ lab: JoinLab; host: LabHost }> {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.isAdministrator = false;
  lab.start();
  await lab.add();
  await until(async () => (await configured(lab))?.reason === 'HOST_NOT_ADMINISTRATOR');
  host.model.isAdministrator = true;
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
  return { lab, host };
}

test('a repaired host joins without further action, and its failure is cleared', async () => {
  const { lab, host } = await mendedLab();
  const { status } = await lab.instance();
  expect(status?.timeline?.every(({ lastError }) => lastError === undefined)).toBe(true);
  expect(status?.timeline?.find(({ name }) => name === 'preflight')?.attempts).toBeGreaterThan(1);
  // The agent came once, in spite of the attempts.
  expect(host.uploads.filter(path => path.endsWith('.exe'))).toHaveLength(1);
});

test('a new value of the retry annotation ends the backoff', async () => {
  const lab = await startJoinLab();
  lab.host().faults.connect = () => fail(refusal('HOST_REFUSED_KEY'));
  // Backoff never ends by itself.
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms < 3000 ? ms : 3_600_000, signal);
  lab.start({ clock: { ...systemClock, sleep } });
  await lab.add();
  const attempts = async () =>
    (await lab.instance()).status?.timeline?.find(({ name }) => name === 'connect')?.attempts;
  for (const attempt of [1, 2, 3]) {
    await until(async () => (await attempts()) === attempt);
    await lab.failed('HOST_REFUSED_KEY');
    const metadata = { annotations: { [instanceAnnotation.retry]: String(attempt) } };
    await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body: { metadata } }, { namespace });
  }
});

test('another failure is reported, and so is the first one when it comes back', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.faults.connect = () => fail(unreachable(address));
  lab.start();
  await lab.add();
  const has = (code: string) => until(async () => (await configured(lab))?.reason === code);
  await has('HOST_UNREACHABLE');
  host.faults.connect = () => fail(refusal('HOST_REFUSED_KEY'));
  await has('HOST_REFUSED_KEY');
  host.faults.connect = () => fail(unreachable(address));
  await has('HOST_UNREACHABLE');
  const codes = async () => new Set((await lab.events()).map(line => line.split(': ')[2]));
  await expect.poll(codes).toEqual(new Set(['HOST_UNREACHABLE', 'HOST_REFUSED_KEY']));
});

test('waits for a Machine that does not answer yet without reporting a failure', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.faults.connect = attempt => (attempt < 4 ? fail(unreachable(address)) : undefined);
  lab.start();
  await lab.add({ source: { kind: 'Machine', name: 'machine-1' } });
  await until(async () => (await configured(lab))?.status === 'Unknown');
  expect(await configured(lab)).toMatchObject({ reason: 'HOST_UNREACHABLE' });
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
  expect((await lab.events()).filter(line => line.includes('Failure'))).toEqual([]);
});

test('records an event of the right kind, with details, when the host of a Machine rejects the login', async () => {
  const lab = await startJoinLab();
  lab.host().model.isAdministrator = false;
  lab.start();
  await lab.add({ source: { kind: 'Machine', name: 'machine-1' } });
  await until(async () => (await lab.events()).length >= 2);
  expect((await lab.events()).toSorted()).toEqual([
    'Machine machine-1: MachineSetupFailure: Machine machine-1 configuration failure',
    expect.stringContaining('WindowsInstance win-5: InstanceSetupFailure: HOST_NOT_ADMINISTRATOR: '),
  ]);
});

test('rejects an instance with an invalid user name before it connects, and reports it as not ready', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add({ username: 'CORP\\' });
  const { conditions } = await lab.statusWhen(status => status.conditions !== undefined);
  expect(conditions).toMatchObject([
    { type: 'Accepted', status: 'False', reason: 'INSTANCE_USERNAME_INVALID' },
    { type: 'Ready', status: 'False', reason: 'INSTANCE_USERNAME_INVALID' },
  ]);
  expect(conditions?.[0]?.message).toContain('WindowsInstance win-5: spec.username ');
  expect(host.connectionCount).toBe(0);
});

test('the API server rejects an instance without a user name', async () => {
  const lab = await startJoinLab();
  const spec = { address } as WindowsInstanceSpec;
  await expect(lab.client.create(windowsInstances, { metadata: { name: 'win-5', namespace }, spec })).rejects.toThrow(
    'spec.username: Required value',
  );
});

test('reports a name without an address and does not connect', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  lab.start();
  await lab.add({ address: 'nowhere.example.com' });
  await until(async () => (await configured(lab))?.reason === 'INSTANCE_ADDRESS_UNRESOLVED');
  expect(host.connectionCount).toBe(0);
});

test('reports inputs that cannot be prepared as a failure', async () => {
  const lab = await startJoinLab();
  lab.host();
  lab.inputs = () => fail(new AppError('PRIVATE_KEY_MISSING', 'Secret x has no key', { remedy: 'Make one.' }));
  lab.start();
  await lab.add();
  await lab.failed('PRIVATE_KEY_MISSING');
  const { timeline } = await lab.statusWhen(({ phase }) => phase === 'Failed');
  expect(timeline?.at(-1)).toMatchObject({ name: 'prepare files', lastError: { code: 'PRIVATE_KEY_MISSING' } });
});

test('does not repeat a reboot that had no effect', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  host.model.boot = () => void (host.model.state.boots += 1);
  lab.start();
  await lab.add();
  await until(async () => (await configured(lab))?.reason === 'CONTAINERS_FEATURE_MISSING');
  const attempts = async () =>
    (await lab.instance()).status?.timeline?.find(({ name }) => name === 'reboot')?.attempts ?? 0;
  await until(async () => (await attempts()) >= 3);
  expect(host.boots).toBe(2);
  expect((await lab.instance()).status?.reboot).toMatchObject({ bootId: 'boot-1' });
  // Somebody switches it on by hand.
  host.model.state.containersFeature = 'enabled';
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
});

test('no secret is in status, events or log', async () => {
  const { lab, host } = await mendedLab();
  const told = JSON.stringify([await lab.instance(), await lab.events(), lab.logged.lines, host.commands]);
  for (const secret of [
    'token number',
    'BEGIN PRIVATE KEY',
    'client-key-data',
    lab.privateKey.pem.reveal().slice(30, 80),
  ]) {
    expect(told).not.toContain(secret);
  }
});
