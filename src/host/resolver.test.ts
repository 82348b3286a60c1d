import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { manualClock, settle } from '../../test/kit/manual-clock.ts';
import { type NameAnswer, type NameServer, startNameServer } from '../../test/kit/name-server.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { createResolver, type ResolverOptions } from './resolver.ts';

const folder = mkdtempSync(join(tmpdir(), 'resolver-'));
afterAll(() => rmSync(folder, { recursive: true }));
const hostsFile = join(folder, 'hosts');
writeFileSync(
  hostsFile,
  [
    '127.0.0.1 localhost',
    '10.9.0.1 Listed.example.com listed  # by hand',
    '10.9.0.2 both.example.com',
    'fd00::9 six.example.com',
    '::1 six-only.example.com',
  ].join('\n'),
);

/** A resolver that asks only the server given; the clock of the machine, so that network and time go together. */
const resolverOf = (server: NameServer, more: Partial<ResolverOptions> = {}) =>
  createResolver({ clock: systemClock, servers: [server.address], hostsFile, timeoutMs: 2000, ...more });

const zone: Record<string, NameAnswer> = {
  'A win1.example.com': ['10.0.0.1'],
  'A many.example.com': ['10.0.0.20', '10.0.0.3', '9.0.0.1', '10.0.0.3'],
  'A both.example.com': ['10.0.0.99'],
  'A failed.example.com': 'failed',
  'A silent.example.com': 'silent',
};

const addressCases: [about: string, name: string, want: readonly string[]][] = [
  ['finds the address of a name', 'win1.example.com', ['10.0.0.1']],
  ['finds it in whatever case and with a dot at the end', 'WIN1.Example.com.', ['10.0.0.1']],
  ['puts several in the order of their numbers, each once', 'many.example.com', ['9.0.0.1', '10.0.0.3', '10.0.0.20']],
  ['knows none for a name that nobody knows', 'nobody.invalid', []],
  ['takes the hosts file first', 'both.example.com', ['10.9.0.2']],
  ['finds a short name in the hosts file', 'LISTED', ['10.9.0.1']],
  ['leaves IPv6 addresses out', 'six-only.example.com', []],
  ['answers an address with itself', '10.1.2.3', ['10.1.2.3']],
  ['knows none for what can be no name', 'not a name', []],
  ['knows none for an IPv6 address', 'fd00::1', []],
  ['knows none for a broken address', '10.0.0.256', []],
  ['knows none for nothing', '', []],
];
for (const [about, name, want] of addressCases) {
  test(about, async () => {
    await using server = await startNameServer(zone);
    expect(await resolverOf(server).addresses(name)).toEqual(want);
  });
}

const failures: [about: string, ask: (resolver: ReturnType<typeof createResolver>) => Promise<unknown>, of: string][] =
  [
    ['distinguishes a failing server from an unknown name', one => one.addresses('failed.example.com'), 'failed.ex'],
    ['gives up a server that says nothing', one => one.addresses('silent.example.com'), 'silent.example.com'],
  ];
for (const [about, ask, of] of failures) {
  test(about, async () => {
    await using server = await startNameServer(zone);
    const started = performance.now();
    const error = await rejectionOf(ask(resolverOf(server, { timeoutMs: 300 })));
    expect(error).toMatchObject({ code: 'NAME_LOOKUP_FAILED', message: expect.stringContaining(of) });
    expect(error?.remedy).toContain('name servers');
    expect(performance.now() - started).toBeLessThan(10_000);
  });
}

test('a lookup ends at its own deadline', async () => {
  await using server = await startNameServer(zone);
  const clock = manualClock();
  const resolver = resolverOf(server, { clock, timeoutMs: 60_000 });
  const asked = rejectionOf(resolver.addresses('silent.example.com'));
  await clock.advance(60_000);
  expect(await asked).toMatchObject({ message: expect.stringContaining('no answer within 60 s') });
  expect(clock.sleepers()).toBe(0);
});

test('caches answers and shares pending queries', async () => {
  await using server = await startNameServer(zone);
  const clock = manualClock();
  const resolver = resolverOf(server, { clock, cacheMs: 1000 });
  const ask = () => resolver.addresses('win1.example.com');
  expect(await Promise.all([ask(), ask(), resolver.addresses('WIN1.example.com.')])).toEqual(
    Array.from({ length: 3 }, () => ['10.0.0.1']),
  );
  await clock.advance(999);
  await ask();
  expect(server.questions).toHaveLength(1);
  server.records.set('A win1.example.com', ['10.0.0.2']);
  await clock.advance(1);
  expect(await ask()).toEqual(['10.0.0.2']);
  expect(server.questions).toHaveLength(2);
});

test('caches failures and unknown names for a shorter time', async () => {
  await using server = await startNameServer(zone);
  const clock = manualClock();
  const resolver = resolverOf(server, { clock, cacheMs: 60_000, failureCacheMs: 100 });
  const askAll = () =>
    Promise.allSettled(
      ['failed.example.com', 'nobody.invalid', 'win1.example.com'].map(name => resolver.addresses(name)),
    );
  await askAll();
  const first = server.questions.length;
  await askAll();
  expect(server.questions).toHaveLength(first);
  await clock.advance(100);
  server.records.set('A failed.example.com', ['10.0.0.2']);
  server.records.set('A nobody.invalid', ['10.0.0.77']);
  expect((await askAll()).map(answer => answer.status === 'fulfilled' && answer.value[0])).toEqual([
    '10.0.0.2',
    '10.0.0.77',
    '10.0.0.1',
  ]);
});

test('a name without an answer delays no other', async () => {
  await using server = await startNameServer(zone);
  const resolver = resolverOf(server, { timeoutMs: 1000 });
  let isOver = false;
  const silent = resolver.addresses('silent.example.com').catch(() => (isOver = true));
  expect(await resolver.addresses('win1.example.com')).toEqual(['10.0.0.1']);
  await settle();
  expect(isOver).toBe(false);
  await silent;
});

test('works without a hosts file', async () => {
  await using server = await startNameServer(zone);
  const resolver = resolverOf(server, { hostsFile: join(folder, 'missing') });
  expect(await resolver.addresses('both.example.com')).toEqual(['10.0.0.99']);
});

test('uses the name servers and getaddrinfo of the machine by default', async () => {
  const resolver = createResolver({ clock: systemClock, timeoutMs: 500 });
  expect(await resolver.addresses('localhost')).toContain('127.0.0.1');
});
