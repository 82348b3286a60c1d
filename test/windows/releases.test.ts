import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentName, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { kubeletConfig } from '../../src/node/desired/kubelet-config.ts';
import { until } from '../kit/until.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { buildKubelet } from '../kit/winhost/kubelet/build.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { changedPrograms, makeRelease, type NewRelease, type Release } from '../kit/winhost/releases.ts';

/** Releases of the lab behave on a host as their names say; test/windows/upgrade.test.ts uses them. */

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
  await host.drive.write(file.kubeletConfig, kubeletConfig('10.96.0.10'));
  await host.drive.write(`${dir.kubeletLog}\\placeholder`, '');
});
afterAll(() => lab?.stop());

const parts = {
  'kubelet.exe': 'kube-node/kubelet.exe',
  'containerd.exe': 'containerd/containerd.exe',
  [`${agentName}.exe`]: `${agentName}.exe`,
} as const;

async function release(wanted: NewRelease): Promise<Release & { path: (name: keyof typeof parts) => string }> {
  const program = (name: string) => `${lab.parts.doubles}/lab/programs/${name}`;
  const programs = {
    kubelet: await buildKubelet(),
    service: program('service.exe'),
    logRunner: program('kube-log-runner.exe'),
  };
  const made = await makeRelease(`${lab.folder}/release-${wanted.version}`, programs, wanted);
  return { ...made, path: name => `${made.payload}/${parts[name]}` };
}

const state = async () => /STATE\s+: \d\s+(\w+)/.exec(await host.run(`sc query ${serviceName.kubelet}`))?.[1];
const starts = () => host.lab.serviceEvents('kubelet').filter(({ event }) => event === 'start').length;

/** Installs it as a service; it waits for a kubeconfig that is not there. */
async function runKubelet({ path }: { path: (name: 'kubelet.exe') => string }): Promise<void> {
  await host.exec(`sc delete ${serviceName.kubelet}`);
  await host.drive.copyIn(path('kubelet.exe'), file.kubelet);
  const files = `--config=${file.kubeletConfig} --bootstrap-kubeconfig=${file.bootstrapKubeconfig}`;
  const command = `${file.kubelet} ${files} --kubeconfig=${file.kubeconfig} --cert-dir=${dir.kubeletPki}`;
  await host.run(`sc create ${serviceName.kubelet} binPath= "${command} --node-ip=${host.address} --windows-service"`);
}

test('two releases differ in three programs', async () => {
  const [one, two] = [
    await release({ version: '11.1.0', behavior: 'works' }),
    await release({ version: '11.2.0', behavior: 'works' }),
  ];
  expect([...changedPrograms(one, two).values()].toSorted()).toEqual(Object.keys(parts).toSorted());
  await host.drive.copyIn(two.path(`${agentName}.exe`), file.agent);
  expect(await host.run(`${file.agent} version`)).toContain('11.2.0');
  await host.drive.copyIn(two.path('containerd.exe'), file.containerd);
  await host.run(`sc create containerd binPath= "${file.containerd}"`);
  await host.run('sc start containerd');
  expect(openPrograms(host)).toContainEqual({ path: file.containerd, sha256: two.hashes['containerd.exe'] });
});

test('an agent that fails has all commands but no service', async () => {
  const bad = await release({ version: '11.3.0', behavior: 'agent fails' });
  await host.drive.copyIn(bad.path(`${agentName}.exe`), file.agent);
  expect(await host.run(`${file.agent} version`)).toContain('11.3.0');
  expect((await host.exec(`${file.agent} controller --windows-service`)).code).toBe(1);
});

test('a kubelet that fails never runs', async () => {
  await runKubelet(await release({ version: '11.4.0', behavior: 'kubelet fails' }));
  await host.exec(`sc start ${serviceName.kubelet}`);
  await until(() => starts() === 1);
  await until(async () => (await state()) === 'STOPPED');
});

test('a kubelet that fails later runs until then, and never again', async () => {
  const before = starts();
  await runKubelet(await release({ version: '11.5.0', behavior: 'kubelet fails later', failsAfterMs: 8000 }));
  await host.run(`sc start ${serviceName.kubelet}`);
  await until(async () => (await state()) === 'RUNNING');
  await until(async () => (await state()) === 'STOPPED');
  await host.exec(`sc start ${serviceName.kubelet}`);
  await until(() => starts() === before + 2);
  await until(async () => (await state()) === 'STOPPED');
});
