import { expect, test } from 'vitest';
import { ModelClock } from '../../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import type { ServiceLife } from '../../ports.ts';
import { liveAsService, startLimitMs, stopLimitMs } from './service-life.ts';
import type { ReportedStatus } from './service-records.ts';

type Body = (life: ServiceLife, clock: ModelClock) => Promise<void>;

/** A service on a clock of its own, and everything Windows was told, with the time. */
function host(body: Body) {
  const [stop, clock] = [new AbortController(), new ModelClock()];
  const reports: (ReportedStatus & { atMs: number })[] = [];
  const report = (status: ReportedStatus) => void reports.push({ ...status, atMs: clock.ms });
  const ended = liveAsService(life => body(life, clock), stop.signal, report, clock);
  ended.catch(() => undefined);
  return { stop, clock, reports, ended, reason: new Error('stop') };
}
type Host = ReturnType<typeof host>;

/** The states in order, each once. */
const statesOf = ({ reports }: Host) =>
  reports.map(report => report.state).filter((state, index, all) => state !== all[index - 1]);
const last = ({ reports }: Host) => reports.at(-1);

const whenStopped = (life: ServiceLife) =>
  new Promise<void>(resolve => life.signal.addEventListener('abort', () => resolve(), { once: true }));
const never = () => new Promise<void>(() => undefined);
const readyAtOnce: Body = async life => {
  life.ready();
  await whenStopped(life);
};

/** Lets so much time pass on the clock of the host. */
const pass = ({ clock }: Host, ms: number) => clock.sleep(ms);

test('starts, runs until it is stopped, and reports it', async () => {
  const service = host(readyAtOnce);
  await pass(service, 5000);
  expect(last(service)).toMatchObject({ state: 'running', checkPoint: 0, waitHintMs: 0 });
  service.stop.abort(service.reason);
  await service.ended;
  expect(statesOf(service)).toEqual(['start-pending', 'running', 'stop-pending', 'stopped']);
  expect(last(service)).toEqual({ state: 'stopped', acceptedControls: 0, checkPoint: 0, waitHintMs: 0, atMs: 5000 });
});

test('reports to Windows that it is starting, with a new checkpoint each second', async () => {
  const service = host(async (life, clock) => {
    await clock.sleep(4500);
    life.ready();
    await whenStopped(life);
  });
  await pass(service, 6000);
  const starting = service.reports.filter(report => report.state === 'start-pending');
  expect(starting.map(report => [report.atMs, report.checkPoint])).toEqual([
    [0, 1],
    [1000, 2],
    [2000, 3],
    [3000, 4],
    [4000, 5],
  ]);
  expect(starting.every(report => report.waitHintMs > 2000)).toBe(true);
  expect(last(service)).toMatchObject({ state: 'running', atMs: 4500 });
});

test('counts as running after a while though it is not ready', async () => {
  const service = host(whenStopped);
  await pass(service, startLimitMs + 5000);
  expect(last(service)).toMatchObject({ state: 'running', atMs: startLimitMs });
  service.stop.abort(service.reason);
  await service.ended;
  expect(last(service)).toMatchObject({ state: 'stopped' });
});

test('may get ready twice, or after Windows counts it as running', async () => {
  const service = host(async (life, clock) => {
    life.ready();
    life.ready();
    await clock.sleep(startLimitMs + 10);
    life.ready();
    await whenStopped(life);
  });
  await pass(service, 60_000);
  expect(service.reports.filter(report => report.state === 'running')).toHaveLength(1);
});

const accepted: [state: ReportedStatus['state'], controls: number][] = [
  ['start-pending', 0x1],
  ['running', 0x105],
  ['stop-pending', 0],
  ['stopped', 0],
];
test.each(accepted)('in state %s Windows may send the controls %i', async (state, controls) => {
  const service = host(readyAtOnce);
  await pass(service, 1);
  service.stop.abort(service.reason);
  await service.ended;
  const of = service.reports.filter(report => report.state === state);
  expect([...new Set(of.map(report => report.acceptedControls))]).toEqual([controls]);
});

test('reports the stop before the request of Windows returns', async () => {
  const service = host(readyAtOnce);
  await pass(service, 10);
  service.stop.abort(service.reason);
  expect(last(service)).toMatchObject({ state: 'stop-pending', atMs: 10 });
});

test('reports the stop before the body learns of it', async () => {
  const seen: (string | undefined)[] = [];
  const service = host(async life => {
    life.signal.addEventListener('abort', () => seen.push(last(service)?.state));
    await whenStopped(life);
  });
  await pass(service, 10);
  service.stop.abort(service.reason);
  await service.ended;
  expect(seen).toEqual(['stop-pending']);
});

test('stops while it starts, without ever having run', async () => {
  const service = host(whenStopped);
  await pass(service, 2500);
  service.stop.abort(service.reason);
  await service.ended;
  expect(statesOf(service)).toEqual(['start-pending', 'stop-pending', 'stopped']);
});

test('stops before it begins', async () => {
  const stop = AbortSignal.abort(new Error('early'));
  const reports: string[] = [];
  await liveAsService(
    async () => undefined,
    stop,
    report => void reports.push(report.state),
    new ModelClock(),
  );
  expect(reports.at(-1)).toBe('stopped');
  expect(reports).not.toContain('running');
});

test('gives check-points while it stops', async () => {
  const service = host(async (life, clock) => {
    life.ready();
    await whenStopped(life);
    await clock.sleep(3500);
  });
  await pass(service, 10);
  service.stop.abort(service.reason);
  await service.ended;
  const stopping = service.reports.filter(report => report.state === 'stop-pending');
  expect(stopping.map(report => report.atMs)).toEqual([10, 10, 1010, 2010, 3010]);
  const points = stopping.map(report => report.checkPoint);
  expect(points).toEqual(points.toSorted((one, other) => one - other));
  expect(new Set(points).size).toBe(points.length);
  expect(last(service)).toMatchObject({ state: 'stopped', atMs: 3510 });
});

test('is stopped by force when the body does not end in time', async () => {
  const service = host(async life => {
    life.ready();
    await never();
  });
  await pass(service, 10);
  service.stop.abort(service.reason);
  const error = await rejectionOf(service.ended);
  expect(error).toMatchObject({ code: 'STOP_TIMEOUT', message: expect.stringContaining(`${stopLimitMs / 1000} s`) });
  expect(error?.remedy).toContain('log');
  expect(last(service)).toMatchObject({ state: 'stopped', atMs: 10 + stopLimitMs });
});

test('ends by itself in good order', async () => {
  const service = host(async (life, clock) => {
    life.ready();
    await clock.sleep(700);
  });
  await service.ended;
  expect(statesOf(service)).toEqual(['start-pending', 'running', 'stopped']);
});

const crashes: [name: string, body: Body, states: string[]][] = [
  [
    'a body that fails while it runs',
    async (life, clock) => {
      life.ready();
      await clock.sleep(700);
      throw new Error('broken');
    },
    ['start-pending', 'running'],
  ],
  [
    'a body that fails while it starts',
    async (_, clock) => {
      await clock.sleep(700);
      throw new Error('broken');
    },
    ['start-pending'],
  ],
  [
    'a body that fails at once',
    () => {
      throw new Error('broken');
    },
    ['start-pending'],
  ],
];
test.each(crashes)('shows Windows the crash of %s', async (_, body, states) => {
  const service = host(body);
  await expect(service.ended).rejects.toThrow('broken');
  expect(statesOf(service)).toEqual(states);
});

const endings: [name: string, error: (reason: unknown) => unknown][] = [
  ['the reason of the stop', reason => reason],
  ['an AbortError', () => Object.assign(new Error('aborted'), { name: 'AbortError' })],
];
test.each(endings)('treats %s as a clean stop', async (_, error) => {
  const service = host(async life => {
    life.ready();
    await whenStopped(life);
    throw error(life.signal.reason);
  });
  await pass(service, 10);
  service.stop.abort(service.reason);
  await service.ended;
  expect(last(service)).toMatchObject({ state: 'stopped' });
});

test('passes on what went wrong during the stop, though Windows hears that it stopped', async () => {
  const service = host(async life => {
    life.ready();
    await whenStopped(life);
    throw new Error('the log cannot be written');
  });
  await pass(service, 10);
  service.stop.abort(service.reason);
  await expect(service.ended).rejects.toThrow('the log cannot be written');
  expect(last(service)).toMatchObject({ state: 'stopped' });
});
