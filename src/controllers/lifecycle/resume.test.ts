import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { agentName, nodeAnnotation } from '#contract/names.ts';
import { agentProgramHash, dir, file } from '#contract/paths.ts';
import type { Connect } from '#host/host.ts';
import { type JoinLab, startJoinLab, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { KillBeforeAct } from '../../../test/kit/lifecycle/kill-before-act.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { memoryPayload } from '../../../test/kit/lifecycle/memory-payload.ts';
import { until } from '../../../test/kit/until.ts';

const phaseOf = async (lab: JoinLab, name?: string) => (await lab.instance(name)).status?.phase;
const isReady = (lab: JoinLab, name?: string) => until(async () => (await phaseOf(lab, name)) === 'Ready');

/** What must be true of a host however often the operator was killed on the way. */
function expectOnce(host: LabHost, boots: number): void {
  expect(host.boots).toBe(boots);
  expect(host.uploads).toEqual([...new Set(host.uploads)]);
  expect(host.model.services.calls.filter(call => call === `create ${agentName}`)).toHaveLength(1);
  expect(host.openConnections).toBe(0);
}

/** Kills the operator right before its act of a number, counting all it does to hosts and cluster; then starts another. */
async function killAt(number: number): Promise<'killed' | 'was done before'> {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  lab.behavior.settingsReboot = true;
  const kill = new KillBeforeAct(lab, host, number, ['patch']);
  kill.operator = lab.start({ client: kill.client });
  await lab.add();
  await until(async () => kill.isReached || (await phaseOf(lab)) === 'Ready');
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  lab.start();
  await isReady(lab);
  expectOnce(host, 3);
  expect(await lab.node()).toMatchObject({ metadata: { annotations: { [nodeAnnotation.version]: version } } });
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  return outcome;
}

test('wherever the operator is killed, the next one ends the join: no second reboot, upload or service', async () => {
  const outcomes: string[] = [];
  for (let first = 1; first < 36; first += 6) {
    const batch = Array.from({ length: 6 }, (_, index) => killAt(first + index));
    outcomes.push(...(await Promise.all(batch)));
  }
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(20);
});

/** Numbers that look random and are the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test('thirty kills at any moment of ten joins: all end ready, and nothing was done twice', async () => {
  const lab = await startJoinLab();
  const random = numbers(7);
  const addresses = Array.from({ length: 10 }, (_, index) => `10.0.0.${index + 10}`);
  for (const at of addresses) {
    const host = lab.host(at);
    host.model.state.containersFeature = random() < 0.5 ? 'disabled' : 'enabled';
    // Things take as long as they like.
    host.faults.exec = async () => void (await new Promise(resolve => setTimeout(resolve, random() * 15)));
    await lab.add({ address: at, source: { kind: 'ConfigMap', name: at } }, `win-${at.split('.').at(-1)}`);
  }
  for (let kills = 0; kills < 30; kills += 1) {
    const operator = lab.start();
    await new Promise(resolve => setTimeout(resolve, 20 + random() * 120));
    await operator.kill();
  }
  lab.start();
  for (const at of addresses) await isReady(lab, `win-${at.split('.').at(-1)}`);
  for (const host of lab.hosts.values()) {
    expect(host.boots).toBeLessThanOrEqual(2);
    expectOnce(host, host.boots);
  }
});

test('continues at the step where it was: what was done is neither done nor sent again', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const operator = lab.start();
  host.faults.exec = async command => {
    if (!command.includes(' bootstrap ')) return undefined;
    await until(async () => (await lab.instance()).status?.step === 'bootstrap');
    await operator.kill();
    return undefined;
  };
  await lab.add();
  await until(() => host.verbs().includes('bootstrap') && host.openConnections === 0);
  const before = host.commands.length;
  host.faults.exec = () => undefined;
  lab.start();
  await isReady(lab);
  // Fresh tokens are written, nothing else.
  expect(host.verbs().slice(before)).not.toContain('cleanup');
  expect(host.uploads.filter(path => path.startsWith(dir.agentPrograms))).toHaveLength(1);
  expectOnce(host, 1);
});

test('an upload that came to its end is not repeated, although it was never staged', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const operator = lab.start();
  host.faults.exec = async command => {
    if (command.includes(' stage ')) await operator.kill();
    return command.includes(' stage ') ? { exitCode: 1, stdout: '', stderr: '' } : undefined;
  };
  await lab.add();
  await until(() => host.verbs().includes('stage') && host.openConnections === 0);
  const [bundle] = host.uploads.slice(-1);
  expect(bundle).toContain(dir.incoming);
  host.faults.exec = () => undefined;
  lab.start();
  await isReady(lab);
  expect(host.uploads.filter(path => path === bundle)).toHaveLength(1);
  expectOnce(host, 1);
});

test('bundles that no one needs any more are removed', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.fileTexts.set(`${dir.incoming}\\${'ab'.repeat(32)}`, 'of an operator of before');
  lab.start();
  await lab.add();
  await isReady(lab);
  expect(host.model.fileTexts.keys().filter(path => path.startsWith(dir.incoming))).toEqual([]);
});

test('only programs that are missing or different travel', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const text = 'kubelet.exe one ';
  host.model.fileTexts.set(file.kubelet, text.repeat(Math.ceil(2000 / text.length)).slice(0, 2000));
  host.model.fileTexts.set(file.containerd, 'of somebody else');
  lab.start();
  await lab.add();
  await isReady(lab);
  const { files } = JSON.parse(host.model.fileTexts.get(file.stagedRecord) ?? '') as { files: { path: string }[] };
  const staged = files.map(({ path }) => path);
  expect(staged).toContain(file.containerd);
  expect(staged).not.toContain(file.kubelet);
});

test('an agent of another version is replaced, although it runs', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const old = memoryPayload('old');
  const first = lab.start({ payload: old });
  await lab.add();
  await isReady(lab);
  await first.stop();
  const [sent, before] = [host.uploads.length, host.commands.length];
  await lab.forgetVersion();
  lab.start();
  await until(async () => (await lab.instance()).status?.step === 'wait for agent');
  lab.behavior.noVersion = false;
  lab.look();
  await isReady(lab);
  expect(host.uploads.slice(sent).filter(path => path.startsWith(dir.k))).toHaveLength(2);
  expect(host.verbs().slice(before, before + 4)).toEqual(['inventory', 'secure', 'stage', 'stage']);
  const programs = host.model.fileTexts.keys().filter(path => agentProgramHash(path) !== undefined);
  expect(programs).toHaveLength(1);
  expect(host.model.fileTexts.get(file.agent)).toContain('.exe one');
});

test('an agent of the Go operator that runs is replaced without being asked for anything', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.services.install(agentName, { command: 'go.exe', description: `OpenShift managed ${agentName}` });
  host.model.fileTexts.set(file.agent, 'an agent that knows no inventory');
  lab.start();
  await lab.add();
  await isReady(lab);
  expect(host.model.fileTexts.get(file.agent)).toContain('.exe one');
  expect(host.verbs()).toContain('cleanup');
});

test('after a kill in the middle of a reboot the host is waited for without alarm', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  host.bootMs = 1200;
  const operator = lab.start();
  await lab.add();
  await until(() => host.verbs().includes('reboot') && host.openConnections === 0);
  await operator.kill();
  lab.start();
  await until(async () => (await lab.instance()).status?.conditions?.[0]?.status === 'Unknown');
  await isReady(lab);
  expectOnce(host, 2);
  expect((await lab.events()).filter(line => line.includes('Failure'))).toEqual([]);
});

test('two operators of which the first has lost the lead do not mix', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const first = lab.start();
  await lab.add();
  await until(() => host.commands.length > 0);
  await first.stop();
  lab.start();
  await isReady(lab);
  expectOnce(host, 1);
});

test('keys are asked for with every connection, inputs only once the host answers', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const connect: Connect = async (target, options) => {
    if (host.connectionCount < 2) {
      host.connectionCount += 1;
      throw new AppError('HOST_UNREACHABLE', 'no', { remedy: 'x.' });
    }
    return lab.connect(target, options);
  };
  lab.start({ connect });
  await lab.add();
  await isReady(lab);
  expect(lab.tokens).toBe(1);
});
