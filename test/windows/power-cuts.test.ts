import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { seededRandom } from '../kit/winhost/interruption.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { makeSwapSets, SwapHost } from '../kit/winhost/swap-host.ts';

/** Two hosts swap their files; the power is cut again and again, at other moments of the swap each time. */

const hostCount = 2;
const count = Number(process.env['POWER_CUTS'] ?? 10);
const seed = Number(process.env['KILLS_SEED'] ?? 4);

let scene: Scene;
let folder = '';
let hosts: SwapHost[] = [];

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  folder = await mkdtemp(join(tmpdir(), 'wmco-power-cuts-'));
  const sets = await makeSwapSets(scene.operator, folder);
  const create = async () => new SwapHost(await scene.lab.createHost(), sets);
  hosts = await Promise.all(Array.from({ length: hostCount }, create));
  await Promise.all(hosts.map(host => host.prepare(scene.operator)));
});

afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Gives how long a swap takes that nothing disturbs, from the moment at which it is in the journal. */
async function swap(host: SwapHost): Promise<number> {
  const { version, done } = host.order();
  await host.begun(done);
  const startMs = performance.now();
  await done;
  await host.settled();
  expect(host.look()).toEqual({ version, wrong: [] });
  return performance.now() - startMs;
}

async function cutAfter(host: SwapHost, ms: number): Promise<void> {
  const { version, done } = host.order();
  // The power cut ends the connection, too.
  done.catch(() => undefined);
  await host.begun(done);
  await delay(ms);
  await host.host.cut();
  const [phase, files] = [host.phase(), host.look().wrong.length];
  await host.host.start();
  await host.settled();
  const after = host.look();
  const moment = `cut ${Math.round(ms)} ms into the swap to ${version}, phase ${phase}, ${files} files not of the record`;
  console.log(`${host.host.name}: ${moment}; then ${after.version}`);
  expect(after.wrong).toEqual([]);
}

test(`${count} power cuts during a swap: always one whole set`, async () => {
  const times = await Promise.all(hosts.map(swap));
  console.log(`seed ${seed}: a swap takes ${times.map(Math.round).join(', ')} ms`);
  const random = seededRandom(seed);
  const parts = Array.from({ length: count }, (_, index) => (index + random()) / count);
  const cutOften = async (host: SwapHost, number: number) => {
    const own = parts.filter((_, index) => index % hostCount === number);
    for (const part of own) await cutAfter(host, part * Math.min(...times));
  };
  await Promise.all(hosts.map(cutOften));
  expect(hosts.map(({ host }) => host.lab.unexpected())).toEqual(hosts.map(() => []));
}, 500_000);
