import type { Waiting } from '#base/waiting/poll.ts';
import { expect, test } from 'vitest';
import { ModelClock } from '../../../test/kit/model-host.ts';
import { ModelServices } from '../../../test/kit/model-services.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import type { HeldProcess, ServiceState } from '../ports.ts';
import { ensureRemoved, ensureRunning, ensureStopped } from './ensure.ts';

const waiting = (limitMs = 10_000, signal = new AbortController().signal): Waiting & { clock: ModelClock } => ({
  clock: new ModelClock(),
  signal,
  patience: { everyMs: 1000, limitMs },
});
const portsOf = (model: ModelServices) => ({ services: model, processes: model });
const slow = (looks: number) => Object.assign(new ModelServices(), { slowness: looks });

const starts: [name: string, state: ServiceState, calls: string[]][] = [
  ['starts a stopped service', 'stopped', ['start a']],
  ['leaves a running service alone', 'running', []],
  ['waits for a service that is starting', 'start-pending', []],
  ['waits for a service that continues', 'continue-pending', []],
  ['starts a service once it has stopped', 'stop-pending', ['start a']],
];
for (const [name, state, calls] of starts) {
  test.each([0, 3])(`${name} (looks until it settles: %i)`, async looks => {
    const model = slow(looks).install('a', {}, state);
    await ensureRunning('a', portsOf(model), waiting());
    expect(await model.query('a')).toMatchObject({ state: 'running' });
    expect(model.calls).toEqual(calls);
  });
}

const stops: [name: string, state: ServiceState, calls: string[]][] = [
  ['stops a running service', 'running', ['stop a']],
  ['stops a paused service', 'paused', ['stop a']],
  ['leaves a stopped service alone', 'stopped', []],
  ['waits for a service that is stopping', 'stop-pending', []],
  ['lets a service start before it stops it', 'start-pending', ['stop a']],
  ['lets a service pause before it stops it', 'pause-pending', ['stop a']],
];
for (const [name, state, calls] of stops) {
  test.each([0, 3])(`${name} (looks until it settles: %i)`, async looks => {
    const model = slow(looks).install('a', {}, state);
    await ensureStopped('a', portsOf(model), waiting());
    expect(await model.query('a')).toMatchObject({ state: 'stopped', pid: 0 });
    expect(model.calls).toEqual(calls);
  });
}

test('treats a missing service as stopped and removed', async () => {
  const model = new ModelServices();
  await ensureStopped('a', portsOf(model), waiting());
  await ensureRemoved('a', portsOf(model), waiting());
  expect(model.calls).toEqual([]);
});

test('does not start a service that does not exist', async () => {
  const error = await rejectionOf(ensureRunning('a', portsOf(new ModelServices()), waiting()));
  expect(error).toMatchObject({ code: 'SERVICE_NOT_SETTLED', message: 'service a does not exist' });
});

test('passes on why a service cannot be started', async () => {
  const model = new ModelServices().install('a', { dependencies: ['x'] }, 'stopped');
  await expect(ensureRunning('a', portsOf(model), waiting())).rejects.toThrow('service a: Windows error 1075');
});

test('passes on why a service cannot be stopped', async () => {
  const model = new ModelServices().install('a').install('b', { dependencies: ['a'] });
  await expect(ensureStopped('a', portsOf(model), waiting())).rejects.toThrow('service a: Windows error 1051');
  expect(await model.query('a')).toMatchObject({ state: 'running' });
});

test('ignores that another program starts the service at the same moment', async () => {
  const model = new ModelServices().install('a', {}, 'stopped');
  model.before = call => {
    if (call === 'start a') model.install('a');
  };
  await ensureRunning('a', portsOf(model), waiting());
  expect(await model.query('a')).toMatchObject({ state: 'running' });
});

test('ignores that another program stops the service at the same moment', async () => {
  const model = new ModelServices().install('a');
  model.before = call => {
    if (call === 'stop a') model.install('a', {}, 'stopped');
  };
  await ensureStopped('a', portsOf(model), waiting());
  expect(await model.query('a')).toMatchObject({ state: 'stopped' });
});

test('ignores that another program deletes the service while it stops', async () => {
  const model = slow(5).install('a', {}, 'stop-pending');
  await model.remove('a');
  await ensureRemoved('a', portsOf(model), waiting());
  expect(await model.list()).toEqual([]);
});

test('reports a service that dies right after its start', async () => {
  const model = new ModelServices().install('a', {}, 'stopped');
  model.start = async () => undefined;
  const error = await rejectionOf(ensureRunning('a', portsOf(model), waiting()));
  expect(error).toMatchObject({
    code: 'SERVICE_NOT_SETTLED',
    message: 'service a stopped again right after its start',
  });
  expect(error?.remedy).toContain('Get-WinEvent');
});

test('gives up on a service that never comes up, and reports how long it waited', async () => {
  const model = slow(1000).install('a', {}, 'start-pending');
  const patient = waiting(7000);
  const error = await rejectionOf(ensureRunning('a', portsOf(model), patient));
  expect(error).toMatchObject({ code: 'SERVICE_NOT_SETTLED', message: 'service a did not run within 7 s' });
  expect(patient.clock.ms).toBe(7000);
});

test('kills the process of a service that does not stop in time', async () => {
  const model = new ModelServices().install('a');
  model.stubborn.add('a');
  const patient = waiting(5000);
  await ensureStopped('a', portsOf(model), patient);
  expect(await model.query('a')).toMatchObject({ state: 'stopped' });
  expect(patient.clock.ms).toBe(5000);
});

test('ends the process of a service that is stopping forever, and starts the service', async () => {
  const model = new ModelServices().install('a');
  model.stubborn.add('a');
  await model.stop('a');
  const ended: string[] = [];
  const notices = {
    onStarted: () => undefined,
    onEnded: (name: string, _pid: number, limitMs: number) => void ended.push(`${name} ${limitMs}`),
  };
  expect(await ensureRunning('a', { ...portsOf(model), notices }, waiting(5000))).toBe(true);
  expect(await model.query('a')).toMatchObject({ state: 'running' });
  expect(ended).toEqual(['a 5000']);
});

test('does not end a process that has the PID of an ended service by now', async () => {
  const { seen, processes } = lingering(1000);
  const services = slow(3).install('a', {}, 'stop-pending');
  const { hold } = processes;
  // The service ends between the query and the opening of its process.
  processes.hold = async () => {
    for (const _ of [1, 2, 3, 4]) await services.query('a');
    return hold();
  };
  await ensureStopped('a', { services, processes }, waiting(3000));
  expect(seen).toMatchObject({ killed: false, released: 1 });
});

test('requests the stop of a process once, and not again after it was killed', async () => {
  const model = new ModelServices().install('a');
  model.stop = async name => void model.calls.push(`stop ${name}`);
  await ensureStopped('a', portsOf(model), waiting(5000));
  expect(model.calls).toEqual(['stop a']);
  expect(await model.query('a')).toMatchObject({ state: 'stopped', pid: 0 });
});

test('requests the stop again when the service has another process, as after its recovery', async () => {
  const model = new ModelServices().install('a');
  const stop = model.stop.bind(model);
  model.stop = async name => {
    if (model.calls.length > 0) return stop(name);
    model.calls.push('stop a, which crashes and is started again');
    return void model.install('a');
  };
  await ensureStopped('a', portsOf(model), waiting());
  expect(model.calls).toEqual(['stop a, which crashes and is started again', 'stop a']);
});

test('gives up on a service in a shared process that does not stop', async () => {
  const model = slow(1000).install('a', {}, 'stop-pending');
  model.hold = async () => undefined;
  const error = await rejectionOf(ensureStopped('a', portsOf(model), waiting(4000)));
  expect(error).toMatchObject({ code: 'SERVICE_NOT_SETTLED', message: 'service a did not stop within 4 s' });
});

/** A process that outlives its service by some looks, or until it is killed. */
function lingering(looks: number) {
  const seen = { looks: 0, killed: false, released: 0 };
  const held: HeldProcess = {
    hasExited: async () => {
      seen.looks += 1;
      return seen.killed || seen.looks > looks;
    },
    killTree: async () => void (seen.killed = true),
    release: () => void (seen.released += 1),
  };
  return { seen, processes: { hold: async () => held, killByName: async () => undefined } };
}

test('waits until the process has ended, because it keeps files open', async () => {
  const { seen, processes } = lingering(3);
  const patient = waiting();
  await ensureStopped('a', { services: new ModelServices().install('a'), processes }, patient);
  expect(seen).toEqual({ looks: 4, killed: false, released: 1 });
});

test('kills a process that outlives its stopped service', async () => {
  const { seen, processes } = lingering(1000);
  await ensureStopped('a', { services: new ModelServices().install('a'), processes }, waiting(3000));
  expect(seen).toMatchObject({ killed: true, released: 1 });
});

test('releases the process also when the stop fails', async () => {
  const { seen, processes } = lingering(0);
  const services = new ModelServices().install('a').install('b', { dependencies: ['a'] });
  await expect(ensureStopped('a', { services, processes }, waiting())).rejects.toThrow('1051');
  expect(seen.released).toBe(1);
});

test('removes a running service and waits until Windows has forgotten it', async () => {
  const model = slow(2).install('a');
  await ensureRemoved('a', portsOf(model), waiting());
  expect(await model.list()).toEqual([]);
  expect(model.calls).toEqual(['stop a', 'remove a']);
});

test('gives up on a service that stays marked for deletion', async () => {
  const model = new ModelServices().install('a', {}, 'stopped');
  model.remove = async () => undefined;
  const error = await rejectionOf(ensureRemoved('a', portsOf(model), waiting(2000)));
  expect(error).toMatchObject({ code: 'SERVICE_NOT_SETTLED', message: 'service a still exists after 2 s' });
});

test('passes on why a service cannot be deleted', async () => {
  const model = new ModelServices().install('a', {}, 'stopped');
  model.before = call => {
    if (call.startsWith('remove')) throw new Error('5: access denied');
  };
  await expect(ensureRemoved('a', portsOf(model), waiting())).rejects.toThrow('5: access denied');
});

const verbs = { ensureRunning, ensureStopped, ensureRemoved };
test.each(Object.entries(verbs))('%s stops waiting when aborted', async (_, ensure) => {
  const stop = new AbortController();
  const model = slow(1000).install('a', {}, 'stop-pending');
  const patient = waiting(60_000, stop.signal);
  const pending = ensure('a', portsOf(model), patient);
  stop.abort(new Error('shutting down'));
  await expect(pending).rejects.toThrow('shutting down');
});
