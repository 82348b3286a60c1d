import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { StatusWriter } from './status-writer.ts';

const name = 'win-1';
const condition = (type: string) => ({
  type,
  status: 'True' as const,
  reason: 'r',
  message: '',
  lastTransitionTime: 't',
});

function bench(status: WindowsInstanceStatus = {}) {
  const api = new MemoryApi();
  const object = api.put(windowsInstances, {
    metadata: { name, namespace: 'ns' },
    spec: { address: 'a', username: 'Administrator' },
    status,
  });
  const [clock, logged] = [manualClock(), recordedLog()];
  let step = 'one';
  const writer = new StatusWriter(object, {
    client: api,
    clock,
    log: logged.log,
    change: () => before => ({
      ...before,
      step,
      conditions: [...(before.conditions ?? []).filter(({ type }) => type !== 'Ready'), condition('Ready')],
    }),
  });
  const say = (text: string) => {
    step = text;
    writer.request();
  };
  const stored = () => api.peek(windowsInstances, name, 'ns')?.status;
  const patches = () =>
    api.calls.filter(({ verb }) => verb === 'patch').map(({ body }) => (body as WindowsInstance).status?.step);
  return { api, clock, logged, writer, say, stored, patches };
}

test('writes the first news at once, to the status only', async () => {
  const { api, say, stored } = bench();
  say('connect');
  await settle();
  expect(stored()).toMatchObject({ step: 'connect' });
  expect(api.calls[0]).toMatchObject({ verb: 'patch', resource: 'windowsinstances/status', namespace: 'ns' });
});

test('writes at most once a second, and the last of the news', async () => {
  const { say, clock, patches } = bench();
  say('a');
  await settle();
  for (const text of ['b', 'c', 'd']) say(text);
  await clock.advance(900);
  expect(patches()).toEqual(['a']);
  await clock.advance(100);
  expect(patches()).toEqual(['a', 'd']);
  say('e');
  await clock.advance(999);
  expect(patches()).toHaveLength(2);
  await clock.advance(1);
  expect(patches()).toEqual(['a', 'd', 'e']);
});

test('what is said while a write is under way goes into the next one', async () => {
  const { api, say, patches, clock } = bench();
  const gate = Promise.withResolvers<void>();
  api.before = () => gate.promise;
  say('a');
  await settle();
  say('b');
  say('c');
  gate.resolve();
  await settle();
  await clock.advance(1000);
  expect(patches()).toEqual(['a', 'c']);
});

test('writes nothing when nothing has changed', async () => {
  const { say, patches } = bench();
  say('a');
  await settle();
  say('a');
  await settle();
  expect(patches()).toHaveLength(1);
});

test('keeps what others have written', async () => {
  const { api, say, stored, logged } = bench();
  const now = api.peek(windowsInstances, name, 'ns');
  api.put(windowsInstances, { ...(now as WindowsInstance), status: { conditions: [condition('Resolved')] } });
  say('a');
  await settle();
  expect(stored()?.conditions?.map(({ type }) => type)).toEqual(['Resolved', 'Ready']);
  expect(logged.lines).toEqual([]);
});

test('a condition that another writer sets between two writes is kept', async () => {
  const { api, say, stored, clock } = bench();
  say('a');
  await settle();
  const now = api.peek(windowsInstances, name, 'ns') as WindowsInstance;
  const conditions = [...(now.status?.conditions ?? []), condition('KeyRefused')];
  api.put(windowsInstances, { ...now, status: { ...now.status, conditions } });
  for (const text of ['b', 'c']) {
    say(text);
    await clock.advance(1000);
  }
  expect(stored()?.step).toBe('c');
  expect(stored()?.conditions?.map(({ type }) => type)).toEqual(['KeyRefused', 'Ready']);
});

test('a slow server gets fewer writes: those of a host take at most a tenth of the time', async () => {
  const { api, say, patches, clock } = bench();
  api.before = () => clock.sleep(2000);
  say('a');
  await clock.advance(2000);
  say('b');
  await clock.advance(17_999);
  say('c');
  expect(patches()).toEqual(['a']);
  await clock.advance(2001);
  expect(patches()).toEqual(['a', 'c']);
});

test('a write that failed is repeated, also without news', async () => {
  const { api, say, logged, stored, clock } = bench();
  api.before = () => {
    throw refused(429, 'TooManyRequests');
  };
  say('a');
  await settle();
  expect(logged.messages('warn')).toEqual(['Status update failed; retrying']);
  api.before = () => undefined;
  await clock.advance(5000);
  expect(stored()?.step).toBe('a');
});

test('a server that refuses is asked again with the next news', async () => {
  const { api, say, logged, stored, clock } = bench();
  api.before = () => {
    throw refused(500, 'InternalError');
  };
  say('a');
  await settle();
  expect(logged.messages('warn')).toEqual(['Status update failed; retrying']);
  api.before = () => undefined;
  say('b');
  await clock.advance(5000);
  expect(stored()?.step).toBe('b');
});

test('write resolves when it is written, after what was under way', async () => {
  const { api, say, writer, stored, patches } = bench();
  const gate = Promise.withResolvers<void>();
  api.before = () => gate.promise;
  say('a');
  await settle();
  say('b');
  const written = writer.write();
  gate.resolve();
  await written;
  expect(stored()?.step).toBe('b');
  expect(patches().at(-1)).toBe('b');
});

test('write tries a few times, longer and longer, and then fails', async () => {
  const { api, writer, clock } = bench();
  let calls = 0;
  api.before = () => {
    calls += 1;
    throw refused(500, 'InternalError');
  };
  const written = writer.write();
  written.catch(() => undefined);
  await settle();
  for (const ms of [200, 400, 800, 1600]) await clock.advance(ms);
  await expect(written).rejects.toThrow('InternalError');
  expect(calls).toBe(5);
});

test('write succeeds when the server comes back', async () => {
  const { api, writer, clock, stored } = bench();
  api.before = () => {
    throw refused(503, 'ServiceUnavailable');
  };
  const written = writer.write();
  await settle();
  api.before = () => undefined;
  await clock.advance(200);
  await written;
  expect(stored()?.step).toBe('one');
});

test('gives up after many conflicts in a row, without an end', async () => {
  const { api, writer, clock } = bench();
  api.before = ({ verb }) => {
    if (verb === 'patch') throw refused(409, 'Conflict');
  };
  const written = writer.write();
  written.catch(() => undefined);
  await settle();
  await settle();
  for (let turn = 0; turn < 6; turn += 1) await clock.advance(4000);
  await expect(written).rejects.toThrow('Conflict');
  expect(api.calls.length).toBeLessThan(60);
});

test('an object that is gone, or was created again, is not written any more', async () => {
  const gone = bench();
  gone.api.remove(windowsInstances, name, 'ns');
  await gone.writer.write();
  gone.say('later');
  await settle();
  expect(gone.patches()).toHaveLength(1);

  const anew = bench();
  anew.api.remove(windowsInstances, name, 'ns');
  anew.api.put(windowsInstances, {
    metadata: { name, namespace: 'ns', uid: 'other' },
    spec: { address: 'b', username: 'Administrator' },
  });
  await anew.writer.write();
  expect(anew.stored()).toBeUndefined();

  const between = bench();
  between.api.before = ({ verb }) => {
    if (verb === 'patch') throw refused(409, 'Conflict');
    between.api.remove(windowsInstances, name, 'ns');
  };
  await between.writer.write();
  expect(between.logged.lines).toEqual([]);
});

test('fails when a conflict cannot be looked at', async () => {
  const { api, writer, clock } = bench();
  api.before = ({ verb }) => {
    throw verb === 'patch' ? refused(409, 'Conflict') : refused(403, 'Forbidden');
  };
  const written = writer.write();
  written.catch(() => undefined);
  for (let turn = 0; turn < 6; turn += 1) await clock.advance(4000);
  await expect(written).rejects.toThrow('Forbidden');
});

test('after its end nothing is written, and nothing waits', async () => {
  const { say, writer, clock, patches } = bench();
  say('a');
  await settle();
  say('b');
  await settle();
  await writer.end();
  say('c');
  await settle();
  expect(patches()).toEqual(['a']);
  expect(clock.sleepers()).toBe(0);
});
