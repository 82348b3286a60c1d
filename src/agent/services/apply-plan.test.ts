import type { Waiting } from '#base/waiting/poll.ts';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { service } from '#contract/services/manifest.ts';
import { ModelClock } from '../../../test/kit/model-host.ts';
import { ModelServices } from '../../../test/kit/model-services.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import type { ServiceConfig } from '../ports.ts';
import { applyPlan, type ServiceWork } from './apply-plan.ts';
import { Failures } from './failures.ts';
import { type DesiredService, desiredService, planServices } from './plan.ts';

const want = (name: string, over: Partial<ServiceConfig> & Partial<DesiredService> = {}): DesiredService => {
  const { prepares = false, filesChanged = false, ...config } = over;
  const base = desiredService(service({ name, command: `${name}.exe` }), `${name}.exe`);
  return { ...base, prepares, filesChanged, config: { ...base.config, ...config } };
};

/** A host and what is kept on its disk between passes. */
class VerbDeps implements ServiceWork {
  readonly services = new ModelServices();
  readonly processes = this.services;
  readonly clock = new ModelClock();
  remembered: string[] = [];
  explain = async (_name: string, error: unknown) => error;
  readonly memories: string[][] = [];
  prepare: (name: string) => Promise<boolean> = async () => false;

  async remember(names: readonly string[]): Promise<void> {
    this.remembered = [...names];
    this.memories.push(this.remembered);
  }

  waiting(signal = new AbortController().signal): Waiting {
    return { clock: this.clock, signal, patience: { everyMs: 1000, limitMs: 5000 } };
  }

  /** Plans and carries out; gives the message of the failures, or what is outdated. */
  async pass(wanted: DesiredService[], failures = new Failures()): Promise<{ outdated: string[]; error?: string }> {
    const plan = planServices(wanted, await this.services.list(), this.remembered);
    const outdated = await applyPlan(plan, this, this.waiting(), failures);
    const error = errorOf(() => failures.throwIfAny())?.message;
    return { outdated, ...(error !== undefined && { error }) };
  }

  async states(): Promise<Record<string, string>> {
    return Object.fromEntries((await this.services.list()).map(({ name, state }) => [name, state]));
  }
}

function failOn(world: VerbDeps, ...calls: string[]): void {
  world.services.before = call => {
    if (calls.includes(call)) throw new Error(`${call} refused`);
  };
}

const chain = [want('a'), want('b', { dependencies: ['a'] }), want('c', { dependencies: ['b'] }), want('z')];
/** All four as wanted, but the command of the first one. */
function worldWithOldA(): VerbDeps {
  const world = new VerbDeps();
  for (const { name, config } of chain)
    world.services.install(name, name === 'a' ? { ...config, command: 'old' } : config);
  return world;
}

test('creates and starts everything on an empty host', async () => {
  const world = new VerbDeps();
  expect(await world.pass(chain)).toEqual({ outdated: [] });
  expect(await world.states()).toEqual({ a: 'running', b: 'running', c: 'running', z: 'running' });
});

test('corrects a command below running dependents without touching others', async () => {
  const world = worldWithOldA();
  const before = (await world.services.query('z'))?.pid;
  expect(await world.pass(chain)).toEqual({ outdated: [] });
  expect(await world.services.query('a')).toMatchObject({ state: 'running', config: { command: 'a.exe' } });
  expect((await world.services.query('z'))?.pid).toBe(before);
});

test('waits through pending states', async () => {
  const world = worldWithOldA();
  world.services.slowness = 3;
  expect(await world.pass(chain)).toEqual({ outdated: [] });
});

const faults: [name: string, calls: string[], want: Record<string, string>, error: string][] = [
  [
    'goes on with independent services when one does not start',
    ['start a'],
    { a: 'stopped', b: 'stopped', c: 'stopped', z: 'running' },
    '3 service(s) failed: a (start a refused), b (waits for a), c (waits for b)',
  ],
  [
    'starts no dependant upon a service that could not be created',
    ['create b'],
    { a: 'running', z: 'running', c: 'stopped' },
    '2 service(s) failed: b (create b refused), c (waits for b)',
  ],
  [
    'tells of several failures at once',
    ['start c', 'start z'],
    { a: 'running', b: 'running', c: 'stopped', z: 'stopped' },
    '2 service(s) failed: c (start c refused), z (start z refused)',
  ],
];
for (const [name, calls, states, error] of faults) {
  test(name, async () => {
    const world = new VerbDeps();
    failOn(world, ...calls);
    expect((await world.pass(chain)).error).toBe(error);
    expect(await world.states()).toEqual(states);
  });
}

test('starts stopped dependents again when the service itself could not be stopped', async () => {
  const world = worldWithOldA();
  failOn(world, 'stop a');
  expect((await world.pass(chain)).error).toBe('1 service(s) failed: a (stop a refused)');
  expect(await world.states()).toEqual({ a: 'running', b: 'running', c: 'running', z: 'running' });
});

test('does not stop a service while a dependant does not let go', async () => {
  const world = worldWithOldA();
  failOn(world, 'stop c');
  expect((await world.pass(chain)).error).toBe(
    '3 service(s) failed: c (stop c refused), b (waits for c), a (waits for c)',
  );
  expect(await world.states()).toEqual({ a: 'running', b: 'running', c: 'running', z: 'running' });
});

test('retries a failed configuration in the next pass', async () => {
  const world = worldWithOldA();
  failOn(world, 'configure a');
  expect((await world.pass(chain)).error).toContain('a (configure a refused), b (waits for a)');
  failOn(world);
  expect(await world.pass(chain)).toEqual({ outdated: [] });
  expect(await world.states()).toEqual({ a: 'running', b: 'running', c: 'running', z: 'running' });
});

test('takes earlier failures into account', async () => {
  const world = new VerbDeps();
  const failures = new Failures();
  failures.add('a', new Error('no value for NODE_IP'));
  const { error } = await world.pass(chain.slice(1), failures);
  expect(error).toBe('3 service(s) failed: a (no value for NODE_IP), b (waits for a), c (waits for b)');
  expect(await world.states()).toEqual({ b: 'stopped', c: 'stopped', z: 'running' });
});

test('reports a running service whose files changed, and not one that it has just started', async () => {
  const world = new VerbDeps();
  world.services.install('a', want('a').config);
  world.prepare = async () => true;
  const wanted = [want('a', { prepares: true }), want('b', { prepares: true })];
  expect(await world.pass(wanted)).toEqual({ outdated: ['a'] });
});

test('does not start a service when its preparation fails, and does not stop a running one', async () => {
  const world = new VerbDeps();
  world.services.install('a', want('a').config);
  world.prepare = async name => Promise.reject(new Error(`no network for ${name}`));
  const { error } = await world.pass([want('a', { prepares: true }), want('b', { prepares: true })]);
  expect(error).toBe('2 service(s) failed: a (no network for a), b (no network for b)');
  expect(await world.states()).toEqual({ a: 'running', b: 'stopped' });
});

test('remembers services of others before it stops them, and forgets them when they run again', async () => {
  const world = worldWithOldA();
  world.services.install('x', { dependencies: ['a'] });
  world.services.before = call => {
    if (call === 'stop x') expect(world.memories).toEqual([['x']]);
  };
  expect(await world.pass(chain)).toEqual({ outdated: [] });
  expect((await world.states())['x']).toBe('running');
  expect(world.memories).toEqual([['x'], []]);
});

test('keeps a service that did not start on record', async () => {
  const world = worldWithOldA();
  world.services.install('x', { dependencies: ['a'] });
  failOn(world, 'start x');
  expect((await world.pass(chain)).error).toContain('x (start x refused)');
  expect(world.remembered).toEqual(['x']);
  failOn(world);
  await world.pass(chain);
  expect([(await world.states())['x'], world.remembered]).toEqual(['running', []]);
});

test('records nothing when only services of WMCO are stopped', async () => {
  const world = worldWithOldA();
  await world.pass(chain);
  expect(world.memories).toEqual([]);
});

test('stops at once when aborted, without blaming a service', async () => {
  const world = worldWithOldA();
  const stop = new AbortController();
  world.services.before = call => {
    if (call === 'stop b') stop.abort(new Error('shutting down'));
  };
  const plan = planServices(chain, await world.services.list());
  const failures = new Failures();
  await expect(applyPlan(plan, world, world.waiting(stop.signal), failures)).rejects.toThrow('shutting down');
  expect(errorOf(() => failures.throwIfAny())).toBeUndefined();
  expect(world.services.calls).toEqual(['stop c', 'stop b']);
});

/** Any set of wanted services without cycles, and any host. */
const count = 6;
const links = fc.array(fc.nat(count), { maxLength: 2 });
const wantedSet = fc.array(fc.record({ links, index: fc.nat(count - 1) }), { maxLength: count }).map(list => {
  const byIndex = new Map(list.map(item => [item.index, item]));
  return [...byIndex.values()].map(item =>
    want(`s${item.index}`, {
      dependencies: [...new Set(item.links)]
        .filter(link => link < item.index && byIndex.has(link))
        .map(link => `s${link}`),
    }),
  );
});
const state = fc.constantFrom('running', 'stopped', 'start-pending', 'stop-pending', 'paused' as const);
const hostServices = fc.array(
  fc.record({ index: fc.nat(count + 2), links, state, command: fc.constantFrom('old', 'right'), tagged: fc.boolean() }),
  { maxLength: count + 3 },
);

type HostServices = typeof hostServices extends fc.Arbitrary<infer T> ? T : never;

function worldWith(wanted: readonly DesiredService[], given: HostServices, slowness: number): VerbDeps {
  const world = new VerbDeps();
  world.services.slowness = slowness;
  const installed = new Set(given.map(item => item.index));
  for (const item of given) {
    const config = wanted.find(({ name }) => name === `s${item.index}`)?.config;
    const dependencies = item.links.filter(link => link < item.index && installed.has(link)).map(link => `s${link}`);
    const right = item.command === 'right' && config !== undefined;
    world.services.install(
      `s${item.index}`,
      right ? { ...config, ...(item.tagged ? {} : { description: '' }) } : { command: 'old', dependencies },
      item.state,
    );
  }
  return world;
}

/** What has to be true in the end, however often the agent was stopped on the way. */
async function expectAsWanted(
  world: VerbDeps,
  wanted: readonly DesiredService[],
  outside: readonly string[],
): Promise<void> {
  const byName = new Map((await world.services.list()).map(item => [item.name, item]));
  for (const { name, config } of wanted) expect(byName.get(name)).toMatchObject({ state: 'running', config });
  for (const name of outside) expect(byName.get(name)?.state).toBe('running');
  expect(world.remembered).toEqual([]);
}

async function settled(world: VerbDeps): Promise<void> {
  for (const { name } of await world.services.list())
    for (let look = 0; look < 6; look += 1) await world.services.query(name);
}

async function unaffected(world: VerbDeps, wanted: readonly DesiredService[]): Promise<Map<string, number>> {
  const all = await world.services.list();
  const touched = new Set(planServices(wanted, all).actions.map(action => action.name));
  return new Map(all.filter(({ name, pid }) => pid > 0 && !touched.has(name)).map(({ name, pid }) => [name, pid]));
}

const runningOutside = async (world: VerbDeps, wanted: readonly DesiredService[]) =>
  (await world.services.list())
    .filter(({ name, state: now }) => now === 'running' && !wanted.some(service => service.name === name))
    .map(({ name }) => name);

test('ends with all services in the desired state, without restarting unchanged ones', async () => {
  await fc.assert(
    fc.asyncProperty(wantedSet, hostServices, fc.nat(2), async (wanted, given, slowness) => {
      const world = worldWith(wanted, given, slowness);
      await settled(world);
      const [outside, same] = [await runningOutside(world, wanted), await unaffected(world, wanted)];
      expect((await world.pass(wanted)).error).toBeUndefined();
      await expectAsWanted(world, wanted, outside);
      for (const [name, pid] of same) expect((await world.services.query(name))?.pid).toBe(pid);
      const calls = world.services.calls.length;
      await world.pass(wanted);
      expect(world.services.calls).toHaveLength(calls);
    }),
    { numRuns: 500 },
  );
});

test('reaches the same state when it is killed at any action and started again', async () => {
  await fc.assert(
    fc.asyncProperty(wantedSet, hostServices, fc.array(fc.nat(8), { maxLength: 3 }), async (wanted, given, kills) => {
      const world = worldWith(wanted, given, 0);
      await settled(world);
      const outside = await runningOutside(world, wanted);
      for (const after of kills) {
        const stop = new AbortController();
        let left = after;
        world.services.before = () => {
          left -= 1;
          if (left < 0) {
            stop.abort(new Error('killed'));
            throw new Error('killed');
          }
        };
        const plan = planServices(wanted, await world.services.list(), world.remembered);
        await applyPlan(plan, world, world.waiting(stop.signal), new Failures()).catch(() => undefined);
      }
      world.services.before = () => undefined;
      expect((await world.pass(wanted)).error).toBeUndefined();
      await expectAsWanted(world, wanted, outside);
    }),
    { numRuns: 500 },
  );
});
