import { expect, test } from 'vitest';
import type { Clock } from '#base/clock.ts';
import { Secret } from '#base/secret.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import { pathKey } from '#contract/host-path.ts';
import { agentName, nodeAnnotation } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';
import type { InstanceIdentity, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { reconnectSteps } from '#node/lifecycle/configure/steps.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { address, type JoinLab, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { anyKey, type LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { memoryPayload } from '../../../test/kit/lifecycle/memory-payload.ts';
import { until } from '../../../test/kit/until.ts';

const ended = '2026-01-01T00:00:00Z';

interface Away {
  lab: JoinLab;
  host: LabHost;
  before: InstanceIdentity;
  /** How many commands have run until then. */
  commands: number;
}

/** A host that has joined, whose agent ran out of credentials while no operator was there. */
async function awayLab(agent: object | null = { certificateEnds: ended }): Promise<Away> {
  const lab = await startJoinLab();
  const host = lab.host();
  const operator = lab.start();
  await lab.add();
  await lab.ready();
  const { agent: before } = await lab.statusWhen(({ agent: known }) => known?.certificateEnds !== undefined);
  await operator.stop();
  await lab.patchStatus({ agent: agent && { installed: ended, ...agent } });
  return { lab, host, before: before ?? { keyHash: '', installed: '' }, commands: host.commands.length };
}
const isBack =
  ({ before }: Away) =>
  ({ phase, agent }: WindowsInstanceStatus) =>
    phase === 'Ready' && agent?.certificateEnds !== undefined && agent.keyHash !== before.keyHash;
const reconnects = async (lab: JoinLab) => (await lab.events()).filter(line => line.includes('AgentReconnected'));

test('a Node that calls itself by the name of another host does not lock that host out', async () => {
  const away = await awayLab();
  const { lab } = away;
  const made = await lab.client.create<Node>(nodes, { metadata: { name: 'ghost' } });
  const status = { addresses: [{ type: 'Hostname', address: 'win-5' }] };
  await lab.client.replace<Node>(nodes, { ...made, status }, { subresource: 'status' });
  lab.start();
  await lab.statusWhen(isBack(away));
});

test('an agent whose certificate has ended gets a new key and a new token, without drain, cordon or reboot', async () => {
  const away = await awayLab();
  const { lab, host, commands } = away;
  const token = host.model.fileTexts.get(file.bootstrapKubeconfig);
  const { metadata } = (await lab.node()) ?? {};
  const seen: unknown[] = [];
  host.faults.exec = async () => {
    const node = await lab.node();
    seen.push([node?.spec?.unschedulable, (await lab.instance()).status?.phase]);
    return undefined;
  };
  lab.start();
  const status = await lab.statusWhen(isBack(away));
  expect(host.verbs().slice(commands)).toEqual(['inventory', 'secure', 'stage', 'install']);
  expect(host.commands.at(-1)).toContain(' --new-key');
  expect(seen).toEqual([
    [undefined, 'Reconnecting'],
    [undefined, 'Reconnecting'],
    [undefined, 'Reconnecting'],
    [undefined, 'Reconnecting'],
  ]);
  expect(host.model.fileTexts.get(file.bootstrapKubeconfig)).not.toBe(token);
  expect(status.tokens?.map(({ id }) => id)).toContain('JTI=agent-2');
  const steps = reconnectSteps.map(({ name }) => name);
  expect(steps).toEqual(expect.arrayContaining(status.timeline?.map(({ name }) => name) ?? ['none']));
  expect([host.boots, status.reboot, (await lab.node())?.metadata.annotations]).toEqual([
    1,
    undefined,
    metadata?.annotations,
  ]);
  await until(async () => (await reconnects(lab)).length >= 2);
  expect((await reconnects(lab)).toSorted()).toEqual([
    `ConfigMap windows-instances: AgentReconnected: Gave the agent of the instance with address ${address} new credentials`,
    `WindowsInstance win-5: AgentReconnected: Gave the agent of the instance with address ${address} new credentials`,
  ]);
});

/** Of an operator of another version, with an agent, programs and files of its own. */
function startOther(lab: JoinLab): void {
  const version = '12.0.0-def5678';
  const renamed = { [file.agentKubeconfig]: 'of a new token', [file.kubeletConfig]: '{"kind":"new"}' } as const;
  lab.inputs = usual => {
    const files = usual.files.files.map(one => {
      const text = Object.entries(renamed).find(([path]) => path === one.path)?.[1];
      return text === undefined ? one : { ...one, content: new Secret(text) };
    });
    return { ...usual, version, files: { ...usual.files, files } };
  };
  lab.start({ version, payload: memoryPayload('two') });
}

/** What the Node says of itself, and goes on saying. */
async function claimVersion(lab: JoinLab, said: string): Promise<void> {
  lab.behavior.noVersion = true;
  await lab.report({ version: said });
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: said } } });
}

const filesOf = ({ model }: LabHost) =>
  new Map(model.fileTexts.keys().map(path => [pathKey(path), model.fileTexts.get(path)]));
const stagedVersion = ({ model }: LabHost) =>
  (JSON.parse(String(model.fileTexts.get(file.stagedRecord))) as { version: string }).version;

for (const said of [undefined, 'what the Node likes', '12.0.0-def5678']) {
  test(`an operator of another version reconnects an agent whose Node says ${said ?? 'the truth'}, and changes nothing else`, async () => {
    const away = await awayLab();
    const { lab, host, commands } = away;
    const before = filesOf(host);
    const [service] = (await host.model.services.list()).filter(({ name }) => name === agentName);
    if (said !== undefined) await claimVersion(lab, said);
    startOther(lab);
    const status = await lab.statusWhen(isBack(away));
    expect(host.verbs().slice(commands)).toEqual(['inventory', 'stage', 'install']);
    const changed = [...filesOf(host)].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
    const [copies, programs] = [pathKey(dir.staged), pathKey(dir.agentPrograms)];
    const rest = changed.filter(path => !path.startsWith(copies) && !path.startsWith(programs));
    expect(rest.sort()).toEqual([file.agentKey, file.agentKubeconfig].map(pathKey).sort());
    expect(stagedVersion(host)).toBe(version);
    const after = (await host.model.services.list()).find(({ name }) => name === agentName);
    expect(after).toMatchObject({ state: 'running', config: service?.config });
    const node = await lab.node();
    expect([host.boots, node?.spec?.unschedulable]).toEqual([1, undefined]);
    expect(node?.metadata.annotations).toMatchObject({
      [nodeAnnotation.desiredVersion]: version,
      [nodeAnnotation.version]: said ?? version,
    });
    expect(status.tokens?.map(({ id }) => id)).toContain('JTI=agent-2');
  });
}

test('an agent whose Node calls itself one of another version is reconnected', async () => {
  const away = await awayLab();
  const { lab, host, commands } = away;
  await claimVersion(lab, 'what the Node likes');
  lab.start();
  await lab.statusWhen(isBack(away));
  expect(host.verbs().slice(commands)).toEqual(['inventory', 'secure', 'stage', 'install']);
});

test('ids of tokens are recorded before the files with the tokens come', async () => {
  const away = await awayLab();
  const { lab, host } = away;
  const seen: (string[] | undefined)[] = [];
  host.faults.upload = async () => {
    seen.push((await lab.instance()).status?.tokens?.map(({ id }) => id));
  };
  lab.start();
  await lab.statusWhen(isBack(away));
  expect(seen).toEqual([expect.arrayContaining(['JTI=kubelet-2', 'JTI=agent-2'])]);
});

const others: [string, object | null][] = [
  ['whose key is not recorded', null],
  [
    'that got no certificate within half an hour of its installation',
    { certificateEnds: null, installed: '2026-01-01T00:00:00Z' },
  ],
];
for (const [name, agent] of others) {
  test(`reconnects an agent ${name}`, async () => {
    const lab = await startJoinLab();
    lab.behavior.noCertificate = true;
    const host = lab.host();
    const operator = lab.start();
    await lab.add();
    const before = await lab.ready();
    await operator.stop();
    await lab.patchStatus({ agent: agent && { installed: ended, ...agent } });
    const commands = host.commands.length;
    lab.start();
    await lab.statusWhen(
      status =>
        status.phase === 'Ready' && status.agent !== undefined && status.agent.keyHash !== before.agent?.keyHash,
    );
    expect(host.verbs().slice(commands)).toEqual(['inventory', 'secure', 'stage', 'install']);
  });
}

async function endOf(signal: AbortSignal): Promise<never> {
  await whenAborted(signal);
  throw signal.reason;
}

/** A clock on which time flies, but for waits of minutes: those last until a day has passed. */
function dayClock() {
  const fast = fastClock(20);
  let shiftMs = 0;
  let day = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => fast.now() + shiftMs,
    monotonicMs: () => fast.monotonicMs() + shiftMs,
    sleep: (ms, signal) =>
      ms < 600_000 ? fast.sleep(ms, signal) : Promise.race([day.promise, ...(signal ? [endOf(signal)] : [])]),
  };
  const passDay = () => {
    shiftMs += 25 * 3_600_000;
    const over = day;
    day = Promise.withResolvers<void>();
    over.resolve();
  };
  return { clock, passDay };
}

test('an agent whose certificate lives is left alone, and looked at when it ends', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const { clock, passDay } = dayClock();
  lab.start({ clock });
  await lab.add();
  await lab.ready();
  const { agent } = await lab.statusWhen(({ agent: known }) => known?.certificateEnds !== undefined);
  await until(() => host.openConnections === 0);
  const commands = host.commands.length;
  // Nothing but the time can wake the operator now.
  passDay();
  await lab.statusWhen(now => now.phase === 'Ready' && now.agent?.keyHash !== agent?.keyHash);
  expect(host.verbs().slice(commands)).toEqual(['inventory', 'secure', 'stage', 'install']);
});

for (const verb of ['inventory', 'secure', 'stage', 'install']) {
  test(`an operator that is killed at ${verb} is followed by one that reconnects the agent`, async () => {
    const away = await awayLab();
    const { lab, host } = away;
    const operator = lab.start();
    let isKilled = false;
    host.faults.exec = async command => {
      if (!command.includes(` ${verb} `)) return undefined;
      host.faults.exec = () => undefined;
      // The host does what it was told, and nobody hears of it.
      await host.run(command);
      await operator.kill();
      isKilled = true;
      return { exitCode: 1, stdout: '', stderr: '' };
    };
    await until(() => isKilled && host.openConnections === 0);
    lab.start();
    const { agent } = await lab.statusWhen(isBack(away));
    expect([host.boots, (await lab.node())?.spec?.unschedulable]).toEqual([1, undefined]);
    expect(agent?.certificateEnds).not.toBe(ended);
  });
}

test('a host that does not answer is retried later, and its Node stays as it is', async () => {
  const away = await awayLab();
  const { lab, host } = away;
  host.stopAnswering();
  lab.start();
  await lab.failed('HOST_UNREACHABLE');
  const { status } = await lab.instance();
  expect(Date.parse(status?.nextAttempt ?? '')).toBeGreaterThan(Date.now() - 1000);
  const node = await lab.node();
  expect([node?.spec?.unschedulable, node?.metadata.annotations?.[nodeAnnotation.cordoned]]).toEqual([
    undefined,
    undefined,
  ]);
  host.faults.connect = () => undefined;
  await lab.statusWhen(isBack(away));
});

const impostors: [string, string, (host: LabHost) => void][] = [
  ['another host key', 'HOST_KEY_CHANGED', host => void (host.hostKey = anyKey())],
  [
    'another name',
    'NODE_NAME_CHANGED',
    host => void (host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, nodeName: 'other' } : data)),
  ],
];
for (const [name, code, change] of impostors) {
  test(`a host with ${name} is given no token`, async () => {
    const { lab, host, commands } = await awayLab();
    const token = host.model.fileTexts.get(file.bootstrapKubeconfig);
    change(host);
    lab.start();
    await lab.failed(code);
    expect(
      host
        .verbs()
        .slice(commands)
        .filter(verb => verb !== 'inventory'),
    ).toEqual([]);
    expect(host.model.fileTexts.get(file.bootstrapKubeconfig)).toBe(token);
  });
}

test('a Node that goes is configured again', async () => {
  const away = await awayLab();
  const { lab } = away;
  await lab.client.delete(nodes, 'win-5');
  lab.start();
  await lab.statusWhen(({ phase, nodeUID }) => phase === 'Ready' && nodeUID !== undefined);
  await until(async () => (await lab.node()) !== undefined);
  expect(await reconnects(lab)).toEqual([]);
});
