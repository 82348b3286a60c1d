import { expect, test } from 'vitest';
import type { ServiceConfig, ServiceState } from '../../src/agent/ports.ts';
import { ModelServices } from '../kit/model-services.ts';

/** Our double of the service manager keeps the rules of the real one; these are the ones our planning relies on. */
const config: ServiceConfig = {
  command: 'x',
  description: 'd',
  dependencies: [],
  startType: 'manual',
  recovery: undefined,
};
const stateOf = async (model: ModelServices, name: string): Promise<ServiceState | undefined> =>
  (await model.query(name))?.state;

test('creates a stopped service and leaves the others alone', async () => {
  const model = new ModelServices().install('other');
  await model.create('a', config);
  expect(await model.query('a')).toMatchObject({ state: 'stopped', pid: 0, config });
  expect(await stateOf(model, 'other')).toBe('running');
});

test('refuses to create a service twice, in any spelling', async () => {
  const model = new ModelServices().install('a');
  await expect(model.create('A', config)).rejects.toThrow('1073');
});

test('lists all services, and knows what is not there', async () => {
  const model = new ModelServices().install('a').install('b', {}, 'stopped');
  expect((await model.list()).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(await model.query('c')).toBeUndefined();
});

const starts: [name: string, model: ModelServices, fails: string | undefined, states: Record<string, string>][] = [
  ['starts a stopped service', new ModelServices().install('a', {}, 'stopped'), undefined, { a: 'running' }],
  [
    'starts upon a running dependency',
    new ModelServices().install('a', { dependencies: ['b'] }, 'stopped').install('b'),
    undefined,
    { a: 'running' },
  ],
  [
    'starts stopped dependencies too',
    new ModelServices().install('a', { dependencies: ['b'] }, 'stopped').install('b', {}, 'stopped'),
    undefined,
    { a: 'running', b: 'running' },
  ],
  [
    'fails when a dependency of a dependency is missing',
    new ModelServices()
      .install('a', { dependencies: ['b'] }, 'stopped')
      .install('b', { dependencies: ['x'] }, 'stopped'),
    '1075',
    { a: 'stopped', b: 'stopped' },
  ],
  [
    'leaves the first dependency running when the second is missing',
    new ModelServices().install('a', { dependencies: ['b', 'x'] }, 'stopped').install('b', {}, 'stopped'),
    '1075',
    { a: 'stopped', b: 'running' },
  ],
  ['fails for a running service', new ModelServices().install('a'), '1056', { a: 'running' }],
  [
    'fails for a disabled service',
    new ModelServices().install('a', { startType: 'disabled' }, 'stopped'),
    '1058',
    { a: 'stopped' },
  ],
  ['fails for a service that is not there', new ModelServices(), '1060', {}],
];
for (const [name, model, fails, states] of starts) {
  test(name, async () => {
    const started = model.start('a');
    await (fails === undefined ? started : expect(started).rejects.toThrow(fails));
    for (const [service, state] of Object.entries(states)) expect(await stateOf(model, service)).toBe(state);
  });
}

const stops: [name: string, model: ModelServices, fails: string | undefined, state: string][] = [
  ['stops a running service', new ModelServices().install('a'), undefined, 'stopped'],
  [
    'stops beside a stopped dependant',
    new ModelServices().install('a').install('b', { dependencies: ['a'] }, 'stopped'),
    undefined,
    'stopped',
  ],
  [
    'does not stop below a running dependant',
    new ModelServices().install('a').install('b', { dependencies: ['a'] }),
    '1051',
    'running',
  ],
  [
    'does not stop below an indirect dependant',
    new ModelServices()
      .install('a')
      .install('b', { dependencies: ['a'] }, 'stopped')
      .install('c', { dependencies: ['b'] }),
    '1051',
    'running',
  ],
  ['fails for a stopped service', new ModelServices().install('a', {}, 'stopped'), '1062', 'stopped'],
];
for (const [name, model, fails, state] of stops) {
  test(name, async () => {
    const stopped = model.stop('a');
    await (fails === undefined ? stopped : expect(stopped).rejects.toThrow(fails));
    expect(await stateOf(model, 'a')).toBe(state);
  });
}

test('takes no control code in a pending state', async () => {
  const model = Object.assign(new ModelServices(), { slowness: 2 }).install('a', {}, 'start-pending');
  await expect(model.stop('a')).rejects.toThrow('1061');
  await expect(model.start('a')).rejects.toThrow('1056');
  expect([await stateOf(model, 'a'), await stateOf(model, 'a'), await stateOf(model, 'a')].at(-1)).toBe('running');
});

test('gives every start a new process', async () => {
  const model = new ModelServices().install('a');
  const before = (await model.query('a'))?.pid;
  await model.stop('a');
  await model.start('a');
  expect((await model.query('a'))?.pid).not.toBe(before);
});

test('refuses dependencies that lead back to the service', async () => {
  const model = new ModelServices().install('a').install('b', { dependencies: ['a'] });
  await expect(model.configure('a', { ...config, dependencies: ['b'] })).rejects.toThrow('1059');
});

test('clears dependencies with an empty list', async () => {
  const model = new ModelServices().install('a', { dependencies: ['b'] });
  await model.configure('a', config);
  expect((await model.query('a'))?.config).toEqual(config);
});

test('deletes a stopped service at once, a running one when it stops, a missing one without complaint', async () => {
  const model = new ModelServices().install('a', {}, 'stopped').install('b');
  for (const name of ['a', 'b', 'c']) await model.remove(name);
  expect((await model.list()).map(({ name }) => name)).toEqual(['b']);
  await model.stop('b');
  expect(await model.list()).toEqual([]);
});

test('holds a process until it is killed, and no process that has gone', async () => {
  const model = new ModelServices().install('a');
  const held = await model.hold(1);
  expect(await held?.hasExited()).toBe(false);
  await held?.killTree();
  expect([await held?.hasExited(), await stateOf(model, 'a'), await model.hold(1)]).toEqual([
    true,
    'stopped',
    undefined,
  ]);
});
