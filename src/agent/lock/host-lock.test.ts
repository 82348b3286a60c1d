import { expect, test } from 'vitest';
import { leaderFile, lockFile } from '#contract/paths.ts';
import { runIn, worldOf } from '../../../test/kit/agent-bench.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { withHostLock } from './host-lock.ts';
import { parseLeader } from './leader.ts';

const lease = '0b5c1f0e-7a7b-4f4b-9d7c-2f6f5f1f0a01';
const other = '11111111-2222-4333-8444-555555555555';
const onHost = (host: ModelHost, line: string) => runIn(worldOf(host), line);
const by = (count: number, uid = lease) => ` --leader ${uid}.${count}`;
const containers = 'enable-containers -o json';
const leaderOf = (host: ModelHost) => parseLeader(host.fileTexts.get(leaderFile) ?? '');

async function codeOf(host: ModelHost, line: string): Promise<string> {
  const { code, out } = await onHost(host, line);
  const { error } = JSON.parse(out) as { error?: { code: string } };
  return code === 0 ? 'done' : (error?.code ?? '');
}

/** A verb that runs until it is let go. */
function slowVerb(host: ModelHost, line: string) {
  const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  host.system.enableContainers = async () => {
    began.resolve();
    await mayEnd.promise;
    return false;
  };
  const ended = codeOf(host, line);
  return { began: began.promise, end: () => (mayEnd.resolve(), ended) };
}

/** A host on which Containers is not enabled yet, so that the verb has work to do. */
function newHost(): ModelHost {
  const host = new ModelHost();
  host.state.containersFeature = 'disabled';
  return host;
}

test('a second command is refused and told what runs, since when, and how to end it', async () => {
  const host = newHost();
  const first = slowVerb(host, containers);
  await first.began;
  const { code, out } = await onHost(host, 'rename --name win-2 -o json');
  const { error } = JSON.parse(out) as { error: Record<string, string> };
  expect([code, error['code']]).toEqual([1, 'HOST_BUSY']);
  expect(error['message']).toMatch(/^another command changes the host: enable-containers since \d{4}-.+Z$/);
  expect(error['remedy']).toContain('taskkill.exe /f /t /pid 4711');
  expect(await codeOf(host, 'inventory -o json')).toBe('done');
  expect(await first.end()).toBe('done');
  expect(await codeOf(host, 'rename --name win-2 -o json')).toBe('done');
});

test('a command that fails releases the lock', async () => {
  const host = newHost();
  host.system.enableContainers = () => Promise.reject(new Error('no'));
  expect(await codeOf(host, containers)).toBe('INTERNAL_ERROR');
  expect(await codeOf(host, 'rename --name win-2 -o json')).toBe('done');
});

test('from the first command of a new leader on, the former one starts nothing more', async () => {
  const host = newHost();
  const first = slowVerb(host, containers + by(3));
  await first.began;
  expect(await codeOf(host, `rename --name win-2 -o json${by(4)}`)).toBe('HOST_BUSY');
  expect(await codeOf(host, `rename --name win-9 -o json${by(3)}`)).toBe('LEADER_STALE');
  await first.end();
  expect(await codeOf(host, `rename --name win-9 -o json${by(3)}`)).toBe('LEADER_STALE');
  expect(await codeOf(host, `rename --name win-2 -o json${by(4)}`)).toBe('done');
  expect([host.state.newName, leaderOf(host)]).toEqual(['win-2', { lease, count: 4 }]);
});

const records: [name: string, record: string][] = [
  ['that cannot be parsed', '{"lease":'],
  ['of another Lease', JSON.stringify({ lease: other, count: 900 })],
];
for (const [name, record] of records) {
  test(`a record ${name} is replaced`, async () => {
    const host = newHost();
    host.fileTexts.set(leaderFile, record);
    expect(await codeOf(host, containers + by(0))).toBe('done');
    expect(leaderOf(host)).toEqual({ lease, count: 0 });
  });
}

test('records nothing without a leader', async () => {
  const host = newHost();
  expect(await codeOf(host, containers)).toBe('done');
  expect(leaderOf(host)).toBeUndefined();
});

test('rejects anything else in place of a leader', async () => {
  expect(await codeOf(newHost(), `${containers} --leader 7`)).toBe('USAGE');
});

test('a full disk does not keep a command of the same leader from running', async () => {
  const host = newHost();
  expect(await codeOf(host, containers + by(1))).toBe('done');
  host.before = call => {
    if (call.startsWith('write')) throw new Error('ENOSPC');
  };
  expect(await codeOf(host, containers + by(1))).toBe('done');
});

test('without the rights of an administrator there is no lock: nothing can be changed', async () => {
  const host = newHost();
  host.isAdministrator = false;
  using _held = await host.locks.tryLock(lockFile);
  const run = withHostLock({ what: 'secure' }, lockDeps(host), async () => 'inventory');
  expect(await run).toBe('inventory');
});

test('waits for the lock when it may', async () => {
  const host = newHost();
  const held = await host.locks.tryLock(lockFile);
  const waiting = withHostLock({ what: 'activate', waitMs: 60_000 }, lockDeps(host), async () => host.clock.ms);
  await host.clock.sleep(5000);
  held?.[Symbol.dispose]();
  expect(await waiting).toBeGreaterThanOrEqual(5000);
});

test('a wait ends with its signal', async () => {
  const host = newHost();
  using _held = await host.locks.tryLock(lockFile);
  const deps = { ...lockDeps(host), signal: AbortSignal.abort(new Error('stop')) };
  await expect(withHostLock({ what: 'x', waitMs: 60_000 }, deps, async () => 1)).rejects.toThrow('stop');
});

function lockDeps(host: ModelHost) {
  return { ports: host, clock: host.clock, signal: new AbortController().signal, pid: 1 };
}
