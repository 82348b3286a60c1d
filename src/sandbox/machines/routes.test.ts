import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { Connect, ConnectOptions, HostTarget } from '#host/host.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { makeKey, startSshServer } from '../../../test/kit/ssh-server.ts';
import { connect } from '#host/ssh/connect.ts';
import { type Route, routedConnect } from './routes.ts';

const { key } = makeKey();
const target = (address = '10.0.0.11', more: Partial<HostTarget> = {}): HostTarget => ({
  address,
  username: 'Administrator',
  privateKeys: [key],
  pinnedKey: undefined,
  ...more,
});

/** A connect that only tells what it was asked for. */
function recorded(): { connect: Connect; asked: [HostTarget, ConnectOptions | undefined][] } {
  const asked: [HostTarget, ConnectOptions | undefined][] = [];
  return {
    asked,
    connect: async (to, options) => {
      asked.push([to, options]);
      return {} as never;
    },
  };
}

test('connects to the port of the host but keeps its address', async () => {
  const { connect: inner, asked } = recorded();
  const options = { keepAliveMs: 77 };
  await routedConnect(async () => ({ port: 4711 }), inner, systemClock)(target(), options);
  expect(asked).toEqual([[target('10.0.0.11', { dialAt: { address: '127.0.0.1', port: 4711 } }), options]]);
});

test('a real connection uses the address of the host in its messages', async () => {
  await using server = await startSshServer({ onExec: (_, channel) => channel.close() });
  const routed = routedConnect(async () => ({ port: server.port }), connect, systemClock);
  await using connection = await routed(target());
  expect(connection.facts.address).toBe('10.0.0.11');
  await expect(connection.exec('x')).rejects.toThrow(/^10\.0\.0\.11: /);
});

const failures: [string, Route | 'unknown name', string, RegExp][] = [
  ['a host that refuses', 'refused', 'HOST_UNREACHABLE', /^10\.0\.0\.11: .*refuses connections/],
  ['an unknown name', 'unknown name', 'INSTANCE_ADDRESS_UNRESOLVED', /^10\.0\.0\.11: the name does not resolve/],
];
for (const [name, route, code, message] of failures) {
  test(`${name} fails at once, as on a real network`, async () => {
    const { connect: inner, asked } = recorded();
    const routed = routedConnect(async () => route, inner, systemClock);
    await expect(routed(target())).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      remedy: expect.any(String),
    });
    expect(asked).toEqual([]);
  });
}

for (const route of ['silent', undefined] as const) {
  test(`${route === undefined ? 'an unknown address' : 'a silent host'} times out`, async () => {
    const clock = manualClock();
    const routed = routedConnect(async () => route, recorded().connect, clock);
    let failure: unknown;
    const waiting = routed(target(), { dialTimeoutMs: 3000 }).catch((error: unknown) => void (failure = error));
    await clock.advance(2500);
    expect(failure).toBeUndefined();
    await clock.advance(500);
    await waiting;
    expect(failure).toMatchObject({ code: 'HOST_UNREACHABLE', message: '10.0.0.11: no answer within 3 s' });
    expect(clock.sleepers()).toBe(0);
  });
}

test('a host that starts while it is dialed answers', async () => {
  const clock = manualClock();
  const { connect: inner, asked } = recorded();
  let route: Route = 'silent';
  const waiting = routedConnect(async () => route, inner, clock)(target());
  await clock.advance(1000);
  route = { port: 5 };
  await clock.advance(1000);
  await waiting;
  expect(asked).toHaveLength(1);
});

test('dialing a silent host can be aborted', async () => {
  const clock = manualClock();
  const stop = new AbortController();
  const waiting = routedConnect(async () => 'silent', recorded().connect, clock)(target(), { signal: stop.signal });
  await settle();
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(clock.sleepers()).toBe(0);
});

test('another port shows in messages', async () => {
  const routed = routedConnect(async () => 'refused', recorded().connect, systemClock);
  await expect(routed(target('10.0.0.11', { port: 2222 }))).rejects.toThrow(/^10\.0\.0\.11 port 2222: /);
});
