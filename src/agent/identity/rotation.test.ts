import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { agentCertificate, hourMs, minuteMs, nodeName, showsKey } from '../../../test/kit/agent-certificates.ts';
import { startMs } from '../../../test/kit/agent-certificates.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import type { AgentCertificate } from './certificate.ts';
import { agentIdentity } from './kept-identity.ts';
import { Rotation } from './rotation.ts';

const { user } = agentIdentity(nodeName);
type Clock = ReturnType<typeof manualClock>;
const failure = (message = 'no luck') => new AppError('AGENT_CERTIFICATE_NOT_ISSUED', message, { remedy: 'r' });
const after = (clock: Clock, minutes: number, backMinutes = 5) =>
  agentCertificate({ notBefore: clock.now() - backMinutes * minuteMs, notAfter: clock.now() + minutes * minuteMs });

class MemoryStore {
  current: AgentCertificate | undefined;
  loads = 0;
  readonly saved: AgentCertificate[] = [];
  failure: Error | undefined;

  load = async () => {
    this.loads += 1;
    if (this.failure !== undefined) throw this.failure;
    return this.current;
  };
  save = async (certificate: AgentCertificate) => {
    if (this.failure !== undefined) throw this.failure;
    this.current = certificate;
    this.saved.push(certificate);
  };
  isIntact = async (certificate: AgentCertificate) => this.current === certificate;
}

interface Setting {
  stored?: (clock: Clock) => AgentCertificate;
  /** What one attempt gives; an hour dated back by five minutes when absent. */
  issue?: (attempt: number, clock: Clock, signal: AbortSignal) => Promise<AgentCertificate> | AgentCertificate;
  random?: number;
  /** Whether an attempt gets as far as to a request. */
  requests?: boolean;
}

/** A rotation that runs, and everything it can be seen by. */
async function running(setting: Setting = {}) {
  const { stored, issue = (_, time) => after(time, 55), random = 0.5, requests = false } = setting;
  const clock = manualClock(startMs);
  const store = new MemoryStore();
  store.current = stored?.(clock);
  const attempts: number[] = [];
  const troubles: string[] = [];
  const recorded = recordedLog();
  const stop = new AbortController();
  const rotation = new Rotation({
    user,
    store,
    issue: async (signal, onRequested) => {
      attempts.push((clock.now() - startMs) / minuteMs);
      if (requests) onRequested();
      return issue(attempts.length, clock, signal);
    },
    clock,
    log: recorded.log,
    random: () => random,
    onTrouble: error => void troubles.push(error.message),
  });
  const ended = rotation.run(stop.signal).catch((error: unknown) => error);
  onTestFinished(() => stop.abort());
  await settle();
  return { clock, store, attempts, troubles, rotation, stop, ended, ...recorded };
}

const minutes = (times: readonly number[]) => times.map(time => Math.round(time * 10) / 10);

test('requests a certificate at once if there is none, stores and uses it', async () => {
  const { attempts, store, rotation } = await running();
  expect(attempts).toEqual([0]);
  expect(store.saved).toEqual([rotation.certificate]);
  expect(rotation.state).toEqual({ expiresMs: startMs + 55 * minuteMs, lastError: undefined });
});

test('uses a stored certificate as long as it would have', async () => {
  const { attempts, clock, rotation, store } = await running({ stored: time => after(time, 55) });
  expect(attempts).toEqual([]);
  expect(rotation.certificate).toBe(store.current);
  await clock.advance(31 * minuteMs - 1);
  expect(attempts).toEqual([]);
  await clock.advance(1);
  expect(minutes(attempts)).toEqual([31]);
});

const fractions: [random: number, times: number[]][] = [
  [0, [0, 27.5, 55, 82.5, 110, 137.5]],
  [0.5, [0, 31, 62, 93, 124]],
  [0.999999, [0, 37, 74, 111, 147.9]],
];
for (const [random, times] of fractions) {
  test(`renews an hour again and again, with ${random} drawn`, async () => {
    const { attempts, clock, store } = await running({ random });
    await clock.advance(150 * minuteMs);
    expect(minutes(attempts)).toEqual(times);
    expect(store.saved).toHaveLength(times.length);
  });
}

test('draws once for each certificate, not every minute', async () => {
  let draws = 0;
  const clock = manualClock(startMs);
  const store = new MemoryStore();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const random = () => {
    draws += 1;
    return 0.5;
  };
  const issue = async () => after(clock, 55);
  const parts = { user, store, issue, clock, log: recordedLog().log, random, onTrouble: () => undefined };
  void new Rotation(parts).run(stop.signal).catch(() => undefined);
  await clock.advance(30 * minuteMs);
  expect(draws).toBe(1);
});

test('renews a certificate with two of seven minutes left before it expires', async () => {
  const { attempts, clock, rotation, messages } = await running({ issue: (_, time) => after(time, 2) });
  for (let minute = 0; minute < 10; minute += 1) {
    await clock.advance(minuteMs);
    expect(rotation.certificate).toBeDefined();
  }
  expect(minutes(attempts)).toEqual([0, 1.2, 2.4, 3.6, 4.8, 6, 7.2, 8.4, 9.6]);
  expect(messages('error')).toEqual([]);
});

test('pauses between requests for certificates that expire within a second', async () => {
  const { attempts, clock } = await running({ issue: (_, time) => after(time, 1 / 60) });
  await clock.advance(minuteMs);
  expect(attempts.length).toBeLessThanOrEqual(61);
  expect(attempts.length).toBeGreaterThan(50);
});

test('renews after sleep as soon as a request needs the certificate', async () => {
  const { attempts, clock, rotation } = await running();
  clock.jump(3 * hourMs);
  expect(rotation.certificate).toBeUndefined();
  const usable = rotation.usable(new AbortController().signal);
  await settle();
  expect(attempts).toHaveLength(2);
  expect(await usable).toBe(rotation.certificate);
});

test('renews after sleep within a minute without requests', async () => {
  const { attempts, clock, rotation } = await running();
  clock.jump(3 * hourMs);
  await clock.advance(minuteMs);
  expect(attempts).toHaveLength(2);
  expect(rotation.certificate?.notAfterMs).toBeGreaterThan(clock.now());
});

test('replaces a certificate that is not valid yet after the clock was set back', async () => {
  const { attempts, clock, rotation } = await running();
  clock.jump(-2 * hourMs);
  expect(rotation.certificate).toBeDefined();
  await clock.advance(minuteMs);
  expect(attempts).toHaveLength(2);
  expect(rotation.state.expiresMs).toBe(startMs - 2 * hourMs + 56 * minuteMs);
});

test('tries again after 2, 4, 8, 16, 32 s and then every 32 s, until it succeeds', async () => {
  const { attempts, clock, rotation, troubles } = await running({
    random: 0,
    issue: (attempt, time) => {
      if (attempt < 9) throw failure();
      return after(time, 55);
    },
  });
  await clock.advance(158_000);
  expect(attempts.map(time => Math.round(time * 60))).toEqual([0, 2, 6, 14, 30, 62, 94, 126, 158]);
  expect(troubles).toEqual(['no luck']);
  expect(rotation.certificate).toBeDefined();
  expect(rotation.state.lastError).toBeUndefined();
});

test('a delay is longer by up to a tenth', async () => {
  const { attempts, clock } = await running({
    issue: () => Promise.reject(failure()),
    random: 0.999,
  });
  await clock.advance(2190);
  expect(attempts).toHaveLength(1);
  await clock.advance(10);
  expect(attempts).toHaveLength(2);
});

test('begins with 2 s again after a success', async () => {
  const { attempts, clock } = await running({
    random: 0,
    issue: (attempt, time) => {
      if (attempt % 3 !== 0) throw failure();
      return after(time, 55);
    },
  });
  await clock.advance(28 * minuteMs);
  const [first = 0, ...rest] = attempts.slice(2);
  expect(rest.map(time => Math.round((time - first) * 60))).toEqual([1650, 1652, 1656]);
});

test('the certificate at hand stays in use while renewing fails, until it ends', async () => {
  const { clock, rotation } = await running({
    stored: time => after(time, 55),
    issue: () => Promise.reject(failure()),
  });
  await clock.advance(54 * minuteMs);
  expect(rotation.certificate).toBeDefined();
  expect(rotation.state).toMatchObject({ expiresMs: startMs + 55 * minuteMs, lastError: { message: 'no luck' } });
  await clock.advance(minuteMs);
  expect(rotation.certificate).toBeUndefined();
});

test('reports a failure once for each message, and again after a success', async () => {
  const messages = ['one', 'one', 'two', 'two', '', 'two'];
  const { clock, troubles } = await running({
    random: 0,
    issue: (attempt, time) => {
      const message = messages[attempt - 1];
      if (message) throw failure(message);
      return after(time, 1);
    },
  });
  await clock.advance(2 * minuteMs);
  expect(troubles).toEqual(['one', 'two', 'two']);
});

test('what is thrown need not be an error', async () => {
  const { troubles, rotation } = await running({ issue: () => Promise.reject('odd') });
  expect([troubles, rotation.state.lastError]).toMatchObject([['odd'], new Error('odd')]);
});

test('replaces a rejected certificate at once', async () => {
  const { attempts, clock, rotation } = await running({ stored: time => after(time, 55) });
  await clock.advance(10 * minuteMs);
  const old = rotation.certificate;
  rotation.refuse(old?.clientCertificate);
  expect(rotation.certificate).toBeUndefined();
  const usable = rotation.usable(new AbortController().signal);
  await settle();
  expect(attempts).toEqual([10]);
  expect(await usable).not.toBe(old);
});

test('ignores the rejection of an old certificate', async () => {
  const { attempts, clock, rotation } = await running();
  const old = rotation.certificate;
  await clock.advance(32 * minuteMs);
  rotation.refuse(old?.clientCertificate);
  rotation.refuse(undefined);
  expect(rotation.certificate).toBeDefined();
  await clock.advance(minuteMs);
  expect(attempts).toHaveLength(2);
});

test('sends at most one request every three minutes to a server that rejects all certificates', async () => {
  const { attempts, clock, rotation, troubles } = await running({ requests: true });
  for (let second = 0; second < 600; second += 1) {
    rotation.refuse(rotation.certificate?.clientCertificate);
    void rotation.usable(AbortSignal.timeout(10_000)).catch(() => undefined);
    await clock.advance(1000);
  }
  expect(attempts.length).toBeLessThanOrEqual(4);
  expect(attempts.length).toBeGreaterThan(2);
  expect(troubles[0]).toBe('the API server rejects the certificate just issued for system:wicd-node:win1');
  rotation.refuse(rotation.certificate?.clientCertificate);
  expect(rotation.state.lastError).toMatchObject({ code: 'AGENT_UNIDENTIFIED', remedy: expect.stringContaining('CA') });
});

test('does not count the rejection of an expired certificate as a failure', async () => {
  const { attempts, clock, rotation, troubles } = await running({
    requests: true,
    issue: (attempt, time) => (attempt === 2 ? Promise.reject(failure()) : after(time, 0.2)),
  });
  const first = rotation.certificate;
  await clock.advance(0.15 * minuteMs);
  expect([attempts.length, troubles]).toEqual([2, ['no luck']]);
  await clock.advance(0.1 * minuteMs);
  rotation.refuse(first?.clientCertificate);
  expect(troubles).toEqual(['no luck']);
});

test('waits for a certificate until it is issued or the caller aborts', async () => {
  const { promise, resolve } = Promise.withResolvers<AgentCertificate>();
  const { clock, rotation } = await running({ issue: () => promise });
  const impatient = new AbortController();
  const waiting = [rotation.usable(impatient.signal), rotation.usable(new AbortController().signal)];
  impatient.abort(new Error('too long'));
  await expect(waiting[0]).rejects.toThrow('too long');
  resolve(after(clock, 55));
  expect((await waiting[1])?.commonName).toBe('system:wicd-node:win1');
});

test('does not retry faster because of waiting callers', async () => {
  const { attempts, rotation } = await running({ issue: () => Promise.reject(failure()) });
  for (let turn = 0; turn < 5; turn += 1) {
    void rotation.usable(AbortSignal.timeout(10_000)).catch(() => undefined);
    await settle();
  }
  expect(attempts).toHaveLength(1);
});

test('writes the file again within a minute when a user deletes or changes it', async () => {
  const { clock, store, rotation, attempts } = await running();
  for (const change of [undefined, agentCertificate({ notAfter: startMs + minuteMs })]) {
    store.current = change;
    await clock.advance(minuteMs);
    expect(store.current).toBe(rotation.certificate);
  }
  expect(attempts).toHaveLength(1);
});

test('uses a newer certificate from the file', async () => {
  const { clock, store, rotation } = await running();
  const better = after(clock, 300);
  store.current = better;
  await clock.advance(minuteMs);
  expect(rotation.certificate).toBe(better);
});

test('does not read all files every minute', async () => {
  const { clock, store } = await running();
  await clock.advance(30 * minuteMs);
  expect(store.loads).toBe(1);
});

test('a certificate that cannot be stored is used, and stored as soon as that works', async () => {
  const { clock, store, rotation, troubles, attempts } = await running({
    stored: time => after(time, 55),
  });
  store.failure = new Error('ENOSPC');
  await clock.advance(46 * minuteMs);
  expect(attempts).toHaveLength(1);
  expect(rotation.certificate?.notAfterMs).toBeGreaterThan(startMs + 60 * minuteMs);
  expect(rotation.state.lastError).toMatchObject({ message: 'ENOSPC' });
  expect(troubles).toEqual(['ENOSPC']);
  store.failure = undefined;
  await clock.advance(minuteMs);
  expect(store.current).toBe(rotation.certificate);
  await clock.advance(minuteMs);
  expect(rotation.state.lastError).toBeUndefined();
});

test('a store that cannot be read does not keep it from asking', async () => {
  const { clock, store, rotation } = await running({ issue: (_, time) => after(time, 55) });
  expect(rotation.certificate).toBeDefined();
  store.failure = new Error('EIO');
  store.current = undefined;
  await clock.advance(hourMs);
  expect(rotation.certificate).toBeDefined();
});

test('stops during a pause or an attempt, and leaves no timer', async () => {
  for (const issue of [undefined, (_: number, __: Clock, signal: AbortSignal) => untilAborted(signal)]) {
    const { clock, stop, ended } = await running(issue === undefined ? {} : { issue });
    stop.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });
    expect(clock.sleepers()).toBe(0);
  }
});

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

test('logs reason and expiry, and never the key', async () => {
  const { clock, lines } = await running();
  await clock.advance(32 * minuteMs);
  expect(lines.map(({ message, fields }) => [message, fields.why ?? fields.expires])).toEqual([
    ['Requesting client certificate', 'there is no certificate'],
    ['Received client certificate', '2026-03-01T12:55:00Z'],
    ['Requesting client certificate', 'half of its lifetime is over'],
    ['Received client certificate', '2026-03-01T13:26:00Z'],
  ]);
  expect(showsKey(inspect(lines, { depth: 9 }))).toBe(false);
});

test('a request that did not help is followed by no other for three minutes', async () => {
  const { attempts, clock } = await running({
    requests: true,
    random: 0,
    issue: () => Promise.reject(failure('denied')),
  });
  await clock.advance(10 * minuteMs);
  expect(minutes(attempts)).toEqual([0, 3, 6, 9]);
});

test('repairs files while no request is allowed', async () => {
  const { clock, store, rotation } = await running({ requests: true, issue: () => Promise.reject(failure('denied')) });
  store.current = after(clock, 300);
  await clock.advance(minuteMs);
  expect(rotation.certificate).toBe(store.current);
});
