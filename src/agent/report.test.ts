import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import {
  emptyReport,
  failureIn,
  parseReport,
  printReport,
  type ReportEvent,
  reportName,
} from '#contract/agent-report.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Patch } from '#kube/client.ts';
import { manualClock, settle } from '../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { recordedLog } from '../../test/kit/recorded-log.ts';
import { addEvent, Report } from './report.ts';

const minuteMs = 60_000;
const notFound = () => new ApiError({ code: 404, reason: 'NotFound', message: 'not found' }, 'GET /');

/** A ConfigMap in memory, with all that is asked of it. */
function reportOn(data: Record<string, string> | undefined = {}) {
  const clock = manualClock();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const recorded = recordedLog();
  const seen = {
    data: data as Record<string, string> | undefined,
    calls: [] as string[],
    patches: [] as object[],
    failure: undefined as Error | undefined,
    bootId: 'boot-1',
    nodeUid: undefined as string | undefined,
  };
  const answer = async (call: string, name: string) => {
    seen.calls.push(call);
    expect(name).toBe(reportName('win-1'));
    await settle();
    if (seen.failure !== undefined) throw seen.failure;
    if (seen.data === undefined) throw notFound();
    return { metadata: { name }, data: seen.data };
  };
  const client = {
    get: (_: unknown, name: string) => answer('get', name),
    patch: async (_: unknown, name: string, patch: Patch) => {
      const body = patch.body as { data: Record<string, string> };
      expect(Object.keys(body)).toEqual(['data']);
      await answer('patch', name);
      seen.patches.push(body.data);
      return { metadata: { name }, data: (seen.data = { ...seen.data, ...body.data }) };
    },
  };
  const report = new Report({
    client: client as never,
    nodeName: 'win-1',
    namespace: 'ns',
    bootId: async () => seen.bootId,
    nodeUid: () => seen.nodeUid,
    clock,
    log: recorded.log,
    signal: stop.signal,
  });
  return { report, seen, clock, stop, ...recorded };
}

const warning = (message: string) => ({ type: 'Warning', reason: 'ServiceFailure', message }) as const;
const reported = ({ seen }: ReturnType<typeof reportOn>) => parseReport(seen.data);

test('writes what has changed, with the boot, and nothing else of the object', async () => {
  const given = reportOn();
  await given.report.change({ version: 'v1' });
  expect(given.seen.patches).toEqual([{ version: 'v1', bootID: 'boot-1', confirmedBootID: 'boot-1' }]);
  await given.report.change({ rebootRequired: true });
  expect(given.seen.patches.at(-1)).toEqual({ rebootRequired: 'true' });
  const boot = { bootId: 'boot-1', confirmedBoot: 'boot-1' };
  expect(reported(given)).toEqual({ ...emptyReport, ...boot, version: 'v1', rebootRequired: true });
});

test('empties what is no longer true', async () => {
  const services = `v1:${'a'.repeat(32)}:${'b'.repeat(32)}`;
  const given = reportOn(printReport({ ...emptyReport, bootId: 'boot-1', services, variablesBoot: 'boot-0' }));
  await given.report.change({ services: '', variablesBoot: '' });
  expect(given.seen.patches).toEqual([{ services: '', variablesBootID: '' }]);
  await given.report.change({ services: '', variablesBoot: '' });
  expect([given.seen.patches.length, reported(given)]).toEqual([1, { ...emptyReport, bootId: 'boot-1' }]);
});

test('writes no unchanged report, and reads it once', async () => {
  const given = reportOn(printReport({ ...emptyReport, version: 'v1', bootId: 'boot-1', confirmedBoot: 'boot-1' }));
  for (const _ of [1, 2, 3]) await given.report.change({ version: 'v1', rebootRequired: false });
  expect(given.seen.calls).toEqual(['get']);
});

test('writes again what the operator has emptied, once it has read that', async () => {
  const given = reportOn();
  await given.report.change({ version: 'v1' });
  given.seen.data = {};
  expect(await given.report.read()).toEqual(emptyReport);
  await given.report.change({ version: 'v1' });
  expect(reported(given).version).toBe('v1');
});

test('reports another boot with the next write', async () => {
  const given = reportOn();
  await given.report.change({ rebootRequired: true });
  given.seen.bootId = 'boot-2';
  await given.report.change({ rebootRequired: false });
  expect(given.seen.patches.at(-1)).toEqual({ bootID: 'boot-2', rebootRequired: 'false' });
});

const changes: [what: string, change: Partial<{ bootId: string; nodeUid: string | undefined }>, kept: string[]][] = [
  ['another boot', { bootId: 'boot-2' }, ['new']],
  ['another Node of its name', { nodeUid: 'uid-2' }, ['new']],
  ['no Node', { nodeUid: undefined }, ['old', 'new']],
];
test.each(changes)('after %s the report has the events since then', async (_, change, kept) => {
  const given = reportOn();
  given.seen.nodeUid = 'uid-1';
  given.report.event(warning('old'));
  await given.report.change({ version: 'v1' });
  Object.assign(given.seen, change);
  given.report.event(warning('new'));
  await given.report.change({ version: 'v2' });
  expect(reported(given).events.map(({ message }) => message)).toEqual(kept);
  expect(reported(given)).toMatchObject({ bootId: given.seen.bootId, nodeUid: given.seen.nodeUid ?? 'uid-1' });
});

test('reports that there is no report yet, and writes it when there is', async () => {
  const given = reportOn();
  given.seen.data = undefined;
  expect(await rejectionOf(given.report.read())).toMatchObject({
    code: 'AGENT_REPORT_MISSING',
    message: 'ConfigMap ns/wicd-report-win-1 does not exist',
  });
  await expect(given.report.change({ version: 'v1' })).rejects.toMatchObject({ code: 'AGENT_REPORT_MISSING' });
  given.seen.data = {};
  await given.report.change({ version: 'v1' });
  expect(reported(given).version).toBe('v1');
});

test('reads again after a failed write', async () => {
  const given = reportOn();
  await given.report.read();
  given.seen.failure = new Error('the connection broke');
  await expect(given.report.change({ version: 'v1' })).rejects.toThrow('the connection broke');
  given.seen.failure = undefined;
  given.seen.data = printReport({ ...emptyReport, version: 'v1', bootId: 'boot-1', confirmedBoot: 'boot-1' });
  await given.report.change({ version: 'v1' });
  expect(given.seen.calls).toEqual(['get', 'patch', 'get']);
});

test('makes one write at a time', async () => {
  const given = reportOn();
  await Promise.all([
    given.report.change({ version: 'v1' }),
    given.report.change({ rebootRequired: true }),
    given.report.change({ version: 'v2' }),
  ]);
  expect(given.seen.calls).toEqual(['get', 'patch', 'patch', 'patch']);
  expect(reported(given)).toMatchObject({ version: 'v2', rebootRequired: true });
});

test('writes events without other changes, several in one write', async () => {
  const given = reportOn();
  for (const text of ['one', 'two', 'three']) given.report.event(warning(text));
  await given.clock.advance(0);
  await settle();
  given.report.event(warning('four'));
  await settle();
  expect(reported(given).events.map(({ message }) => message)).toEqual(['one', 'two', 'three']);
  await given.clock.advance(5000);
  await settle();
  expect(reported(given).events.map(({ message }) => message)).toEqual(['one', 'two', 'three', 'four']);
  expect(reported(given).events[0]).toEqual({ ...warning('one'), time: '2026-03-01T12:00:00.000Z' });
  expect(given.seen.patches).toHaveLength(2);
});

test('keeps events that could not be written for the next report', async () => {
  const given = reportOn();
  given.seen.failure = new Error('503');
  given.report.event(warning('one'));
  await given.clock.advance(minuteMs);
  await settle();
  expect(given.messages('warn')).toEqual(['Reporting events failed; retrying with the next report']);
  given.seen.failure = undefined;
  await given.report.change({ version: 'v1' });
  expect(reported(given)).toMatchObject({ version: 'v1', events: [{ message: 'one' }] });
});

test('updates a repeated event every five minutes, not in every pass', async () => {
  const given = reportOn();
  for (let minute = 0; minute < 11; minute += 1) {
    given.report.event(warning('kubelet does not start'));
    await given.clock.advance(minuteMs);
    await settle();
  }
  expect(given.seen.patches).toHaveLength(3);
  expect(reported(given).events).toEqual([{ ...warning('kubelet does not start'), time: '2026-03-01T12:10:00.000Z' }]);
});

test('leaves no timer when aborted', async () => {
  const given = reportOn();
  given.report.event(warning('one'));
  await given.clock.advance(0);
  given.stop.abort(new Error('enough'));
  await settle();
  expect([given.clock.sleepers(), given.messages('warn')]).toEqual([0, []]);
});

test('events are few, the newest last, none twice', () => {
  const event = fc.record({
    type: fc.constantFrom('Normal' as const, 'Warning' as const),
    reason: fc.constantFrom('A', 'B'),
    message: fc.constantFrom('x', 'y', 'z', 'u', 'v'),
    minute: fc.nat(60),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), given => {
      const all = given
        .toSorted((one, other) => one.minute - other.minute)
        .map(({ minute, ...text }): ReportEvent => ({ ...text, time: new Date(minute * minuteMs).toISOString() }));
      const kept = all.reduce<ReportEvent[]>(addEvent, []);
      const keys = kept.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
      const times = kept.map(({ time }) => time);
      return kept.length <= 10 && new Set(keys).size === keys.length && times.join() === times.toSorted().join();
    }),
  );
});

test('a failure after a success, and a success after a failure, are the last event at once', () => {
  const at = (reason: string, second: number): ReportEvent => ({
    type: 'Normal',
    reason,
    message: '',
    time: new Date(second * 1000).toISOString(),
  });
  const [failed, recovered] = ['ServiceFailure', 'Recovered'];
  const kept = [failed, failed, recovered, failed, recovered].map(at).reduce<ReportEvent[]>(addEvent, []);
  expect(kept.map(({ reason }) => reason)).toEqual([failed, recovered]);
  expect(failureIn(kept)).toBeUndefined();
  const again = addEvent(kept, at(failed, 9));
  expect(failureIn(again)).toMatchObject({ reason: failed, time: at(failed, 9).time });
});
