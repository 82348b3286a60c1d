import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { TestCa } from '../kit/certificates.ts';
import { drawInterruptions, type Interruption, seededRandom } from '../kit/winhost/interruption.ts';
import { Life, type Step, type StepOutcome, steps } from '../kit/winhost/life.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { difference } from '../kit/winhost/snapshot.ts';

/**
 * Two hosts run every step of the agent: first uninterrupted, then twice with an interruption in
 * every step. The next run must always reach the same result.
 */

const [hostCount, livesOfHost] = [2, 2];
const seed = Number(process.env['KILLS_SEED'] ?? 4);

interface Point extends Interruption {
  host: number;
  life: number;
  step: Step;
  outcome: PromiseWithResolvers<StepOutcome>;
}

const points = drawPoints();
let scene: Scene;
let folder = '';
let hosts: Life[] = [];
/** Results of the uninterrupted runs. */
let undisturbed: Record<Step, StepOutcome>[] = [];
let lives: Promise<unknown> = Promise.resolve();

function drawPoints(): Point[] {
  const random = seededRandom(seed);
  const drawn = steps.map(step => [step, drawInterruptions(hostCount * livesOfHost, random)] as const);
  const all = drawn.flatMap(([step, interruptions]) =>
    interruptions.map((interruption, index) => {
      const [host, life] = [index % hostCount, Math.floor(index / hostCount)];
      const outcome = Promise.withResolvers<StepOutcome>();
      // It may fail before its test awaits it.
      outcome.promise.catch(() => undefined);
      return { ...interruption, step, host, life, outcome };
    }),
  );
  return all.toSorted((one, other) => one.life - other.life);
}

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  const proxy = { HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: '.svc,apiserver.test' };
  await scene.operator.publish({ proxy, trustedCa: new TestCa('ours').cert });
  folder = await mkdtemp(join(tmpdir(), 'wmco-kills-'));
  const path = join(folder, 'bundle');
  const bundle = { path, sha256: await scene.operator.packAll(path) };
  const create = async () => new Life(await scene.lab.createHost(), scene.operator, bundle);
  hosts = await Promise.all(Array.from({ length: hostCount }, create));
  undisturbed = await Promise.all(hosts.map(liveUndisturbed));
  for (const step of steps)
    console.log(`${step}: ${undisturbed.map(({ [step]: { ms } }) => Math.round(ms)).join(', ')} ms`);
  lives = Promise.all(hosts.map(liveDisturbed));
});

afterAll(async () => {
  await lives;
  await scene?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function liveUndisturbed(life: Life): Promise<Record<Step, StepOutcome>> {
  const outcomes = new Map<Step, StepOutcome>();
  for (const step of steps) outcomes.set(step, await life.live(step));
  await life.end();
  return Object.fromEntries(outcomes) as Record<Step, StepOutcome>;
}

async function liveDisturbed(life: Life, host: number): Promise<void> {
  const own = points.filter(point => point.host === host);
  try {
    for (const { part, how, step, outcome } of own) {
      outcome.resolve(await life.live(step, { how, afterMs: part * defaultMs(step) }));
      if (step === 'cleanup') await life.end();
    }
  } catch (error) {
    for (const { outcome } of own) outcome.reject(error);
  }
}

/** The shortest measured time: later the step may be over. */
const defaultMs = (step: Step) => Math.min(...undisturbed.map(outcomes => outcomes[step].ms));

for (const point of points) {
  const { host, life, step, how, part } = point;
  test(`${how} after ${Math.round(100 * part)} % of ${step}, life ${life + 1} of host ${host + 1}`, async () => {
    const { state, broken, wasHit } = await point.outcome.promise;
    if (!wasHit) console.log(`seed ${seed}: the ${how} came too late, ${step} had ended`);
    const expected = undisturbed[host]?.[step].state ?? new Map();
    expect([broken, difference(expected, state)]).toEqual([[], []]);
  }, 500_000);
}

test('most interruptions hit a running agent', async () => {
  const outcomes = await Promise.all(points.map(({ outcome }) => outcome.promise));
  console.log(`seed ${seed}: ${outcomes.filter(({ wasHit }) => wasHit).length} of ${points.length} interruptions hit`);
  expect(outcomes.filter(({ wasHit }) => wasHit).length).toBeGreaterThanOrEqual(0.7 * points.length);
  expect(hosts.map(({ host }) => host.lab.unexpected())).toEqual(hosts.map(() => []));
});
