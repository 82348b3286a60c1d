import { expect, onTestFinished, test } from 'vitest';
import { configMaps, namespaces } from '#kube/resources.ts';
import {
  type AgentBench,
  isMarked,
  namespace,
  nodeName,
  startAgentBench,
  startAgentController,
  statesOf,
  wanted,
} from '../../../test/kit/agent-bench.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { makeReport } from '../../../test/kit/report-mirror.ts';
import { until } from '../../../test/kit/until.ts';

/** The agent while the operator is not installed: services keep running, and work resumes when its objects are back. */

const running = { containerd: 'running', kubelet: 'running', 'kube-proxy': 'running' };

async function configured(): Promise<AgentBench> {
  const world = await startAgentBench();
  onTestFinished(() => world[Symbol.asyncDispose]());
  await world.publish('v1');
  await world.register(wanted('v1'));
  startAgentController(world, fastClock(120));
  await until(() => isMarked(world, 'v1'));
  return world;
}

const warnings = (world: AgentBench, text: string) =>
  world.logged.messages('warn').filter(message => message.includes(text)).length;

async function crashAndRecover(world: AgentBench): Promise<void> {
  await world.host.services.stop('kube-proxy');
  await until(async () => (await statesOf(world))['kube-proxy'] === 'running');
}

const losses: [name: string, lose: (world: AgentBench) => Promise<unknown>][] = [
  ['the services ConfigMap', world => world.client.delete(configMaps, 'windows-services-v1', { namespace })],
  ['its report', world => world.client.delete(configMaps, `wicd-report-${nodeName}`, { namespace })],
  ['its rights', world => world.rights.revoke()],
  ['the namespace', world => world.client.delete(namespaces, namespace)],
];
for (const [name, lose] of losses) {
  test(`keeps services running without ${name}`, async () => {
    const world = await configured();
    await lose(world);
    for (const _ of [1, 2]) await crashAndRecover(world);
    expect(await statesOf(world)).toEqual(running);
  });
}

test('logs once that the services ConfigMap is missing, and resumes with it and the report', async () => {
  const world = await configured();
  await world.client.delete(configMaps, 'windows-services-v1', { namespace });
  await world.client.delete(configMaps, `wicd-report-${nodeName}`, { namespace });
  await until(() => warnings(world, 'Desired services are unknown') > 0);
  for (const _ of [1, 2, 3]) await crashAndRecover(world);
  expect(warnings(world, 'Desired services are unknown')).toBe(1);
  await makeReport(world.client, namespace, nodeName);
  await world.publish('v1');
  await until(() => isMarked(world, 'v1'));
});
