import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { silentLog } from '#base/log.ts';
import { file } from '#contract/paths.ts';
import { nodes } from '#kube/resources.ts';
import { startHost } from '../../../../test/kit/simulated-host.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../embedded-cluster.ts';
import { hostPorts } from '../host/ports.ts';
import { SimulatedProcesses } from '../host/processes.ts';
import { defaultTimes } from '../times.ts';
import { defaultTraits } from '../traits.ts';
import { connectFrom } from './connect.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import { idleProgram } from './idle.ts';
import type { ProgramHost } from './program-host.ts';

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster();
});
afterAll(() => cluster.close());

async function scene() {
  const made = await startHost({ start: 'off' });
  const { state, files, services } = made.host;
  const common = { delays: systemClock, times: defaultTimes, busyPorts: () => [], reboot: () => undefined };
  const ports = hostPorts({ state, files, services, processes: new SimulatedProcesses(), ...common });
  const host: ProgramHost = {
    pid: 4711,
    ports,
    state,
    clock: systemClock,
    delays: systemClock,
    times: defaultTimes,
    traits: defaultTraits,
    log: silentLog,
  };
  return Object.assign(made, { programs: host });
}

test('a program connects to the API server with a kubeconfig on its host', async () => {
  await using made = await scene();
  await made.host.files.write(file.kubeconfig, cluster.kubeconfigFor());
  const client = await connectFrom(made.programs, file.kubeconfig, 'test');
  expect((await client.list(nodes)).items).toEqual([]);
  await client.close();
});

test('certificates that the kubeconfig names are read from there, too', async () => {
  await using made = await scene();
  const kubeconfig = JSON.parse(cluster.kubeconfigFor());
  const { user } = kubeconfig.users[0];
  const text = (name: string) => Buffer.from(user[name], 'base64').toString();
  await made.host.files.write('C:\\k\\pki\\client.pem', text('client-certificate-data') + text('client-key-data'));
  kubeconfig.users[0].user = { 'client-certificate': 'pki\\client.pem', 'client-key': 'C:\\k\\pki\\client.pem' };
  await made.host.files.write(file.kubeconfig, JSON.stringify(kubeconfig));
  const client = await connectFrom(made.programs, file.kubeconfig, 'test');
  expect((await client.list(nodes)).items).toEqual([]);
  await client.close();
});

test('requests come from the user of the kubeconfig', async () => {
  await using made = await scene();
  await made.host.files.write(file.kubeconfig, cluster.kubeconfigFor({ commonName: 'somebody' }));
  const client = await connectFrom(made.programs, file.kubeconfig, 'test');
  await expect(client.list(nodes)).rejects.toThrow(/User "somebody" cannot list resource "nodes"/);
  await client.close();
});

const unusable: [string, string | undefined, string][] = [
  ['is not there', undefined, 'CREDENTIAL_UNREADABLE'],
  ['is none', 'no kubeconfig', 'KUBECONFIG_MALFORMED'],
];
for (const [name, text, code] of unusable) {
  test(`a kubeconfig that ${name} is refused`, async () => {
    await using made = await scene();
    if (text !== undefined) await made.host.files.write(file.kubeconfig, text);
    await expect(connectFrom(made.programs, file.kubeconfig, 'test')).rejects.toMatchObject({ code });
  });
}

test('an idle program is ready at once and stops on request', async () => {
  const stop = new AbortController();
  let ready = 0;
  const running = idleProgram({ signal: stop.signal, ready: () => void (ready += 1) });
  expect(ready).toBe(1);
  stop.abort();
  expect(await running).toBe(0);
});

test('an aborted signal is not waited for', async () => {
  await expect(whenAborted(AbortSignal.abort())).resolves.toBeUndefined();
});
