import { expect, test } from 'vitest';
import {
  runningService as running,
  serviceConfig as config,
  serviceScene as scene,
  type ServiceScene as Scene,
} from '../../../../test/kit/service-scene.ts';

const refused = (code: string, number: number, name = 'kubelet') => ({
  code,
  message: expect.stringMatching(new RegExp(`failed for service ${name}: Windows error ${number} `)),
  remedy: expect.any(String),
});

test('a new service is there and stopped', async () => {
  const { services, install } = scene();
  await install('kubelet', { command: 'idle.exe', description: 'OpenShift managed kubelet' });
  expect(await services.list()).toEqual([
    {
      name: 'kubelet',
      state: 'stopped',
      pid: 0,
      config: config({ description: 'OpenShift managed kubelet', environment: {} }),
    },
  ]);
});

test('names have no case', async () => {
  const { services, install, clock } = scene();
  await install('Kubelet');
  await services.start('KUBELET');
  await clock.advance(400);
  expect(await services.query('kubelet')).toMatchObject({ state: 'running' });
  await expect(install('kubelet')).rejects.toMatchObject(refused('WINDOWS_SERVICE_EXISTS', 1073));
});

test('a start takes its time, with a process from the beginning', async () => {
  const { services, install, clock } = scene();
  await install('kubelet');
  await services.start('kubelet');
  const pending = await services.query('kubelet');
  expect([pending?.state, (pending?.pid ?? 0) > 0]).toEqual(['start-pending', true]);
  await clock.advance(399);
  expect((await services.query('kubelet'))?.state).toBe('start-pending');
  await clock.advance(1);
  expect(await services.query('kubelet')).toEqual({ state: 'running', pid: pending?.pid });
});

test('a service that does not report running stays in start-pending', async () => {
  const { services, clock } = await running('unready.exe');
  await clock.advance(60_000);
  expect((await services.query('kubelet'))?.state).toBe('start-pending');
});

test('a stop takes its time, and leaves no process', async () => {
  const { services, clock } = await running();
  await services.stop('kubelet');
  expect((await services.query('kubelet'))?.state).toBe('stop-pending');
  await clock.advance(200);
  expect(await services.query('kubelet')).toEqual({ state: 'stopped', pid: 0 });
});

test('waits for the end of a process that takes longer', async () => {
  const { services, clock } = await running('slow-end.exe');
  await services.stop('kubelet');
  await clock.advance(1000);
  expect((await services.query('kubelet'))?.state).toBe('stopped');
});

test('a service that does not stop stays in stop-pending until it is killed', async () => {
  const { services, processes, clock } = await running('stubborn.exe');
  await services.stop('kubelet');
  await clock.advance(60_000);
  const status = await services.query('kubelet');
  expect(status?.state).toBe('stop-pending');
  await (await processes.hold(status?.pid ?? 0))?.killTree();
  await clock.advance(0);
  expect(await services.query('kubelet')).toEqual({ state: 'stopped', pid: 0 });
});

const refusals: [string, (made: Scene) => Promise<unknown>, string, number, string?][] = [
  ['the start of what is not there', ({ services }) => services.start('x'), 'WINDOWS_SERVICE_MISSING', 1060, 'x'],
  ['the stop of what is not there', ({ services }) => services.stop('x'), 'WINDOWS_SERVICE_MISSING', 1060, 'x'],
  ['the end of what is not there', ({ services }) => services.remove('x'), 'WINDOWS_SERVICE_MISSING', 1060, 'x'],
  [
    'a change of what is not there',
    ({ services }) => services.configure('x', config()),
    'WINDOWS_SERVICE_MISSING',
    1060,
    'x',
  ],
  ['a second start', ({ services }) => services.start('kubelet'), 'WINDOWS_CALL_FAILED', 1056],
  [
    'the stop of what is stopped',
    async ({ services, install }) => {
      await install('idle');
      await services.stop('idle');
    },
    'WINDOWS_CALL_FAILED',
    1062,
    'idle',
  ],
  [
    'a stop in the middle of a start',
    async ({ services, install }) => {
      await install('slow', { command: 'unready.exe' });
      await services.start('slow');
      await services.stop('slow');
    },
    'WINDOWS_CALL_FAILED',
    1061,
    'slow',
  ],
  [
    'a start in the middle of a stop',
    async ({ services }) => {
      await services.stop('kubelet');
      await services.start('kubelet');
    },
    'WINDOWS_CALL_FAILED',
    1061,
  ],
  [
    'the stop of what others need',
    async ({ services, install, clock }) => {
      await install('proxy', { dependencies: ['kubelet'] });
      await services.start('proxy');
      await clock.advance(400);
      await services.stop('kubelet');
    },
    'WINDOWS_CALL_FAILED',
    1051,
  ],
  [
    'the start of what is disabled',
    async ({ services, install }) => {
      await install('off', { startType: 'disabled' });
      await services.start('off');
    },
    'WINDOWS_SERVICE_DISABLED',
    1058,
    'off',
  ],
  [
    'the start of a program that is not on the disk',
    async ({ services, install }) => {
      await install('gone', { command: 'C:\\k\\gone.exe' });
      await services.start('gone');
    },
    'WINDOWS_CALL_FAILED',
    2,
    'gone',
  ],
  [
    'the start of what needs a service that is not there',
    async ({ services, install }) => {
      await install('needy', { dependencies: ['missing'] });
      await services.start('needy');
    },
    'WINDOWS_SERVICE_DEPENDENCY',
    1075,
    'needy',
  ],
  [
    'the start of what needs a service that is about to stop',
    async ({ services, install }) => {
      await install('needy', { dependencies: ['kubelet'] });
      await services.stop('kubelet');
      await services.start('needy');
    },
    'WINDOWS_SERVICE_DEPENDENCY',
    1068,
    'needy',
  ],
  [
    'a service that would need itself',
    ({ services }) => services.configure('kubelet', config({ dependencies: ['Kubelet'] })),
    'WINDOWS_SERVICE_DEPENDENCY',
    1059,
  ],
  [
    'a circle of two',
    async ({ services, install }) => {
      await install('other', { dependencies: ['kubelet'] });
      await services.configure('kubelet', config({ dependencies: ['other'] }));
    },
    'WINDOWS_SERVICE_DEPENDENCY',
    1059,
  ],
  [
    'a change of what is marked for deletion',
    async ({ services }) => {
      await services.remove('kubelet');
      await services.configure('kubelet', config());
    },
    'WINDOWS_SERVICE_DELETED',
    1072,
  ],
  [
    'a new one under a name that is marked for deletion',
    async ({ services, install }) => {
      await services.remove('kubelet');
      await install('kubelet');
    },
    'WINDOWS_SERVICE_DELETED',
    1072,
  ],
  [
    'a second deletion',
    async ({ services }) => {
      await services.remove('kubelet');
      await services.remove('kubelet');
    },
    'WINDOWS_SERVICE_DELETED',
    1072,
  ],
];
for (const [name, act, code, number, service] of refusals) {
  test(`rejects ${name}, with the number of Windows`, async () => {
    await expect(act(await running())).rejects.toMatchObject(refused(code, number, service));
  });
}

test('a start first starts stopped dependencies', async () => {
  const { services, install, clock, launched, states } = scene();
  await install('containerd');
  await install('kubelet', { dependencies: ['Containerd'] });
  await install('overlay', { dependencies: ['kubelet'] });
  await services.start('overlay');
  expect(launched).toEqual(['containerd', 'kubelet', 'overlay']);
  await clock.advance(1000);
  expect(await states()).toBe('running containerd, running kubelet, running overlay');
});

test('a service runs only after its dependencies', async () => {
  const { services, install, clock, states } = scene();
  await install('base', { command: 'unready.exe' });
  await install('top', { dependencies: ['base'] });
  await services.start('top');
  await clock.advance(5000);
  expect(await states()).toBe('start-pending base, start-pending top');
});

test('a process that ends at once leaves a service that is stopped', async () => {
  const { services, clock } = await running('failing.exe');
  await clock.advance(1000);
  expect(await services.query('kubelet')).toEqual({ state: 'stopped', pid: 0 });
});

test('a crashed service is restarted after each delay in turn, then with the last one', async () => {
  const recovery = { resetSeconds: 300, restartDelaysMs: [1000, 5000] };
  const { clock, launched } = await running('failing.exe', { recovery });
  const counts: number[] = [launched.length];
  for (const ms of [1000, 5000, 5000]) {
    await clock.advance(ms);
    counts.push(launched.length);
  }
  expect(counts).toEqual([1, 2, 3, 4]);
});

test('a requested stop is not a crash', async () => {
  const recovery = { resetSeconds: 300, restartDelaysMs: [10] };
  const { services, clock, launched } = await running('idle.exe', { recovery });
  await services.stop('kubelet');
  await clock.advance(10_000);
  expect([launched.length, (await services.query('kubelet'))?.state]).toEqual([1, 'stopped']);
});

test('a service that was started or deleted meanwhile is not restarted', async () => {
  const recovery = { resetSeconds: 300, restartDelaysMs: [1000] };
  const { services, processes, clock, launched } = await running('idle.exe', { recovery });
  const kill = async () => (await processes.hold((await services.query('kubelet'))?.pid ?? 0))?.killTree();
  await kill();
  await clock.advance(10);
  await services.start('kubelet');
  await clock.advance(5000);
  expect(launched).toHaveLength(2);
  await kill();
  await clock.advance(10);
  await services.remove('kubelet');
  await clock.advance(5000);
  expect([launched.length, await services.list()]).toEqual([2, []]);
});

test('a service that runs is deleted when it has stopped', async () => {
  const { services, clock } = await running();
  await services.remove('kubelet');
  expect((await services.query('kubelet'))?.state).toBe('running');
  await services.stop('kubelet');
  await clock.advance(200);
  expect(await services.query('kubelet')).toBeUndefined();
});

test('all of the configuration is set, dependencies too', async () => {
  const { services } = await running();
  const other = config({ command: 'other.exe', description: 'x', startType: 'manual', dependencies: [] });
  await services.configure('kubelet', other);
  expect((await services.list())[0]?.config).toEqual({ ...other, environment: {} });
});

test('variables stay until others are set', async () => {
  const { services } = await running();
  const other = config({ command: 'other.exe' });
  const seen: unknown[] = [];
  for (const environment of [{ A: 'b' }, undefined, {}]) {
    await services.configure('kubelet', { ...other, environment });
    seen.push((await services.list())[0]?.config.environment);
  }
  expect(seen).toEqual([{ A: 'b' }, { A: 'b' }, {}]);
});
