import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { runningService as running, serviceScene as scene } from '../../../../test/kit/service-scene.ts';

test('a power cut stops everything, and a boot starts what starts by itself', async () => {
  const { services, install, processes, clock, launched, states } = scene();
  await install('automatic', { dependencies: ['needed'] });
  await install('needed', { startType: 'manual' });
  await install('manual', { startType: 'manual' });
  await install('broken', { command: 'C:\\k\\gone.exe' });
  await services.start('automatic');
  await services.start('manual');
  await clock.advance(1000);
  services.powerOff();
  processes.killAll();
  await clock.advance(1000);
  expect(await states()).toBe('stopped automatic, stopped needed, stopped manual, stopped broken');
  launched.length = 0;
  services.powerOn();
  await clock.advance(1000);
  expect(await states()).toBe('running automatic, running needed, stopped manual, stopped broken');
  expect(launched).toEqual(['needed', 'automatic']);
});

test('a power cut during a start, stop or recovery cancels it', async () => {
  const { services, install, processes, clock, launched } = scene();
  await install('starting', { startType: 'manual' });
  await install('crashed', {
    command: 'failing.exe',
    startType: 'manual',
    recovery: { resetSeconds: 0, restartDelaysMs: [1000] },
  });
  await services.start('starting');
  await services.start('crashed');
  await clock.advance(100);
  services.powerOff();
  processes.killAll();
  await clock.advance(0);
  expect(clock.sleepers()).toBe(0);
  const before = launched.length;
  services.powerOn();
  await clock.advance(60_000);
  expect(launched).toHaveLength(before);
});

test('services marked for deletion are removed by a power cut', async () => {
  const { services, processes } = await running();
  await services.remove('kubelet');
  services.powerOff();
  processes.killAll();
  expect(await services.list()).toEqual([]);
});

test('after any sequence of calls, states and processes agree', async () => {
  const names = ['a', 'b', 'c'];
  const act = fc.record({
    what: fc.constantFrom('start', 'stop', 'remove', 'wait', 'kill', 'power'),
    name: fc.constantFrom(...names),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 25 }), async acts => {
      const { services, processes, install, clock } = scene();
      await install('a');
      await install('b', { dependencies: ['a'] });
      await install('c', { command: 'slow-end.exe' });
      for (const { what, name } of acts) {
        if (what === 'wait') await clock.advance(300);
        else if (what === 'kill') await processes.killByName('idle.exe');
        else if (what === 'power') {
          services.powerOff();
          processes.killAll();
          services.powerOn();
        } else await services[what as 'start'](name).catch(() => undefined);
      }
      await clock.advance(10_000);
      for (const { state, pid } of await services.list()) {
        expect(['stopped', 'running']).toContain(state);
        expect(processes.find(pid) !== undefined).toBe(state === 'running');
      }
      services.powerOff();
      processes.killAll();
      await clock.advance(0);
      expect(clock.sleepers()).toBe(0);
    }),
    { numRuns: 100 },
  );
});
