import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { agentName } from '#contract/names.ts';
import { agentProgram, file } from '#contract/paths.ts';
import { scaledClock } from '../clocks.ts';
import { goAgentStamp, stampOf } from '../programs/stamp.ts';
import { defaultTimes } from '../times.ts';
import { defaultTraits, type Traits } from '../traits.ts';
import { ContentStore } from './content-store.ts';
import { SimulatedFiles } from './files.ts';
import { Launcher } from './launcher.ts';
import { hostPorts, type SimulatedPorts } from './ports.ts';
import { SimulatedProcesses } from './processes.ts';
import { SimulatedServices } from './services.ts';
import { freshState } from './state.ts';

let store: ContentStore;
beforeEach(async () => {
  store = await ContentStore.open();
});
afterEach(() => store.close());

function scene(over: Partial<Traits> = {}) {
  const traits = { ...defaultTraits, ...over };
  const delays = scaledClock(systemClock, 1000);
  const state = freshState({ hostName: 'win-1', address: '10.0.0.11', dnsSuffix: '', id: 'x' }, traits);
  const files = new SimulatedFiles({ store, clock: systemClock, diskBytes: () => 1e9, pace: () => Promise.resolve() });
  const processes = new SimulatedProcesses();
  const services = new SimulatedServices({
    records: state.services,
    clock: delays,
    times: defaultTimes,
    launch: (command, name) => launcher.launch(command, name),
    end: pid => processes.find(pid)?.stop(),
  });
  const common = { state, files, processes, delays, times: defaultTimes, busyPorts: () => [], reboot: () => undefined };
  const ports: SimulatedPorts = hostPorts({ ...common, services });
  const verbs: string[] = [];
  const launcher = new Launcher({
    spec: {
      name: 'win-1',
      address: '10.0.0.11',
      dnsSuffix: '',
      user: 'Administrator',
      authorizedKeys: [],
      traits,
      times: defaultTimes,
    },
    deps: { store, clock: systemClock, delays, agentVersion: 'unknown', onChange: () => undefined },
    clock: systemClock,
    state,
    files,
    processes,
    ports: () => ports,
    onVerb: async verb => {
      verbs.push(verb);
      if (verb === 'stage') throw new Error('something happens');
    },
  });
  const said = { out: '', err: '' };
  return {
    files,
    processes,
    services,
    launcher,
    verbs,
    said,
    run: (path: string, ...words: string[]) =>
      launcher.run(path, words, {
        out: text => void (said.out += Buffer.from(text).toString()),
        err: text => void (said.err += Buffer.from(text).toString()),
        closed: new AbortController().signal,
      }),
    install: (path: string, version = '11.0.0-1') => files.write(path, stampOf('x', version)),
  };
}

const missing: [string, string][] = [
  ['a program that is not on the disk', file.kubelet],
  ['a program behind a runner that is not on the disk', `${file.logRunner} -log-file=C:\\l ${file.containerd}`],
  ['an agent program in its folder', `${agentProgram('ab'.repeat(32))} activate --windows-service`],
  ['nothing', ''],
];
for (const [name, command] of missing) {
  test(`does not start ${name}`, async () => {
    const made = scene();
    await made.install(file.containerd);
    expect(made.launcher.launch(command, 'x')).toBeUndefined();
  });
}

test('does not start a runner without its program', async () => {
  const made = scene();
  await made.install(file.logRunner);
  expect(made.launcher.launch(`${file.logRunner} -log-file=C:\\l ${file.kubelet}`, 'kubelet')).toBeUndefined();
});

test('a process has the names of all its programs', async () => {
  const made = scene();
  for (const path of [file.logRunner, file.kubeProxy]) await made.install(path);
  const process = made.launcher.launch(`${file.logRunner} -log-file=C:\\l ${file.kubeProxy} --config x`, 'kube-proxy');
  expect(process?.names).toEqual(['kube-log-runner.exe', 'kube-proxy.exe']);
  expect(made.processes.isRunning('kube-proxy')).toBe(true);
  made.processes.killAll();
  await made.launcher.settled();
});

test('programs of Windows are always there', async () => {
  const made = scene();
  const process = made.launcher.launch('C:\\Windows\\system32\\svchost.exe -k x', 'hns');
  expect(process?.isAlive).toBe(true);
  made.processes.killAll();
});

test('a failing service exits after a moment', async () => {
  const made = scene({ failingServices: ['containerd'] });
  await made.install(file.containerd);
  expect(await made.launcher.launch(file.containerd, 'containerd')?.ended).toBe(1);
  const other = made.launcher.launch(file.containerd, 'other-name');
  expect(other?.isAlive).toBe(true);
  made.processes.killAll();
});

test('the agent runs for a user: its verb, its exit code, both its streams', async () => {
  const made = scene();
  await made.install(file.agent, '11.0.0-9');
  expect(await made.run(file.agent, 'version')).toBe(0);
  expect(made.said).toEqual({ out: expect.stringContaining('"11.0.0-9"'), err: '' });
  expect(await made.run(file.agent, 'no-such-verb')).toBe(1);
  expect(made.said.err).toContain('unknown command "no-such-verb"');
  expect(made.verbs).toEqual(['version', 'no-such-verb']);
});

const spellings = [
  file.agent,
  file.agent.replace('.exe', ''),
  file.agent.toUpperCase(),
  file.agent.replaceAll('\\', '/'),
];
for (const spelled of spellings) {
  test(`finds the agent as ${spelled}`, async () => {
    const made = scene();
    await made.install(file.agent);
    expect(await made.run(spelled, 'version')).toBe(0);
  });
}

test('no agent, no verb', () => {
  const made = scene();
  expect(made.run(file.agent, 'version')).toBeUndefined();
  expect(made.verbs).toEqual([]);
});

test('without words the agent helps', async () => {
  const made = scene();
  await made.install(file.agent);
  expect(await made.run(file.agent)).toBe(0);
  expect(made.said.out).toContain('Usage:');
});

test('a verb with an injected failure fails', async () => {
  const made = scene();
  await made.install(file.agent);
  expect(await made.run(file.agent, 'stage')).toBe(1);
  expect(made.said).toEqual({ out: '', err: '' });
});

test('a killed verb fails and cannot reach the host any more', async () => {
  const made = scene();
  await made.install(file.agent);
  const running = made.run(file.agent, 'inventory', '-o', 'json');
  await made.processes.killByName(agentName);
  expect(await running).toBe(1);
  await made.launcher.settled();
});

test('a new version of the file is another agent from the next start on', async () => {
  const made = scene();
  for (const version of ['1.0.0-a', '2.0.0-b']) {
    await made.install(file.agent, version);
    await made.run(file.agent, 'version');
    expect(made.said.out).toContain(`"${version}"`);
  }
});

test('the agent has only the permissions of its user', async () => {
  const made = scene({ isAdministrator: false });
  await made.install(file.agent);
  expect(await made.run(file.agent, 'rename', '--name', 'other')).toBe(1);
  expect(made.said.err).toContain('WINDOWS_ACCESS_DENIED');
});

test('services have all permissions regardless of the user', async () => {
  const made = scene({ isAdministrator: false });
  await made.install(file.agent);
  const command = `${file.agent} controller --windows-service --log-dir C:\\l --kubeconfig C:\\none --namespace x --node win-1`;
  const process = made.launcher.launch(command, agentName);
  await expect.poll(() => made.launcher.logLines.join('\n')).toContain('Starting');
  await expect.poll(() => made.launcher.logLines.join('\n')).toContain('does not exist');
  expect(made.launcher.logLines.join('\n')).not.toContain('ACCESS_DENIED');
  process?.kill();
  await made.launcher.settled();
});

test('the API server URL is replaced on a host that cannot reach it', async () => {
  const made = scene({ reachesApi: false });
  await made.install(file.agent);
  expect(await made.run(file.agent, 'inventory', '--probe', 'https://127.0.0.1:6443', '-o', 'json')).toBe(0);
  expect(JSON.parse(made.said.out)).toMatchObject({ probe: { url: 'https://127.0.0.1:1' } });
});

test('other programs succeed at once', async () => {
  const made = scene();
  await made.install(file.kubelet);
  expect(await made.run(file.kubelet, '--version')).toBe(0);
  expect(made.verbs).toEqual([]);
});

test('is settled when all programs have ended', async () => {
  const made = scene();
  await made.install(file.csiProxy);
  let isSettled = false;
  const process = made.launcher.launch(file.csiProxy, 'csi-proxy');
  const waiting = made.launcher.settled().then(() => void (isSettled = true));
  await new Promise(resolve => setTimeout(resolve, 20));
  expect(isSettled).toBe(false);
  process?.stop();
  await waiting;
});

test('keeps the last few hundred log lines', async () => {
  const made = scene();
  await made.install(file.kubelet);
  for (let turn = 0; turn < 600; turn += 1) made.launcher.launch(`${file.kubelet} --wrong`, 'kubelet');
  await made.launcher.settled();
  expect(made.launcher.logLines).toHaveLength(500);
  expect(made.launcher.logLines.at(-1)).toContain('unknown flag: --wrong');
});

test('an agent of the Go operator runs and does nothing', async () => {
  const made = scene();
  await made.files.write(file.agent, stampOf(goAgentStamp, '10.20.0'));
  const process = made.launcher.launch(`${file.agent} controller --windows-service`, 'windows-instance-config-daemon');
  await process?.ready;
  expect(made.processes.isRunning('windows-instance-config-daemon')).toBe(true);
  expect(made.verbs).toEqual([]);
  made.processes.killAll();
  await made.launcher.settled();
});
