import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { HostConnection } from '#host/host.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { LabHost, lost, newKey } from '../../../test/kit/lifecycle/lab-host.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { hostMetrics, HostSession } from './host-session.ts';

const never = new AbortController().signal;
const target = {
  address: '10.0.0.5',
  username: 'u',
  privateKeys: [parsePrivateKey(newKey())],
  pinnedKey: undefined,
};

function bench(over: { open?: (signal: AbortSignal) => Promise<HostConnection> } = {}) {
  const host = new LabHost(target.address);
  const clock = manualClock();
  const metrics = new MemoryMetrics();
  const session = new HostSession({ open: signal => host.connect(target, { signal }), clock, metrics, ...over });
  host.faults.exec = () => ({ exitCode: 0, stdout: 'out', stderr: '' });
  return { host, clock, metrics, session };
}
const file = (text: string) => ({
  bytes: text.length,
  chunks: async function* chunks() {
    yield Buffer.from(text);
  },
});

test('opens one connection for all, when it is first needed', async () => {
  const { host, session } = bench();
  expect(host.connectionCount).toBe(0);
  await session.exec('agent.exe inventory', { signal: never });
  await session.exec('agent.exe stage', { signal: never });
  await session.upload('C:\\k\\x', file('abc'), { signal: never });
  expect(host.connectionCount).toBe(1);
  expect(session.usage()).toMatchObject({ execSessions: 2, sftpSessions: 1, bytesSent: 3 });
});

const injected = [
  'agent.exe rename --name x&net user&y',
  'agent.exe a|b',
  'agent.exe  a',
  'agent.exe $(a)',
  '',
  'a\nb',
];
test.each(injected)('never sends %j, nor connects for it', async command => {
  const { host, session } = bench();
  expect(await rejectionOf(session.exec(command, { signal: never }))).toMatchObject({ code: 'COMMAND_WORD_INVALID' });
  expect(host.connectionCount).toBe(0);
});

test('adds up what all its connections have cost', async () => {
  const { host, session } = bench();
  await session.exec('agent.exe a', { signal: never });
  await session.close();
  await session.upload('C:\\k\\x', file('abc'), { signal: never });
  await session.close();
  await session.close();
  expect([host.connectionCount, host.openConnections]).toEqual([2, 0]);
  expect(session.usage()).toEqual({ execSessions: 1, sftpSessions: 1, bytesSent: 3, bytesReceived: 0 });
});

test('opens another one when the last has ended', async () => {
  const { host, session } = bench();
  await session.connect(never);
  host.disconnect();
  await session.exec('agent.exe a', { signal: never });
  expect(host.connectionCount).toBe(2);
});

test('does once more what broke off, after a pause, and no third time', async () => {
  const { host, session, clock } = bench();
  let left = 1;
  host.faults.exec = () => {
    if (left-- > 0) throw lost(host.address);
    return { exitCode: 7, stdout: '', stderr: '' };
  };
  const done = session.exec('agent.exe a', { signal: never });
  await new Promise(resolve => setTimeout(resolve, 10));
  await clock.advance(1000);
  expect(await done).toMatchObject({ exitCode: 7 });
  left = 2;
  const failed = session.exec('agent.exe a', { signal: never });
  failed.catch(() => undefined);
  await new Promise(resolve => setTimeout(resolve, 10));
  await clock.advance(1000);
  await expect(failed).rejects.toMatchObject({ code: 'HOST_CONNECTION_LOST' });
});

test('uploads the whole content again when the connection breaks in the middle', async () => {
  const { host, session, clock, metrics } = bench();
  let left = 1;
  host.faults.upload = () => {
    if (left-- > 0) throw lost(host.address);
  };
  const done = session.upload('C:\\k\\x', file('whole'), { signal: never });
  await new Promise(resolve => setTimeout(resolve, 10));
  await clock.advance(1000);
  await done;
  expect(host.model.fileTexts.get('C:\\k\\x')).toBe('whole');
  expect(metrics.read(hostMetrics.uploadedBytes, {})).toBe(5);
});

test('any other failure is not retried', async () => {
  const { host, session } = bench();
  host.faults.exec = () => {
    throw new AppError('HOST_COMMAND_TIMEOUT', 'late', { remedy: 'x' });
  };
  await expect(session.exec('agent.exe a', { signal: never })).rejects.toMatchObject({ code: 'HOST_COMMAND_TIMEOUT' });
  expect(host.commands).toHaveLength(1);
});

test('does nothing again after an abort', async () => {
  const { host, session } = bench();
  const stop = new AbortController();
  host.faults.exec = () => {
    stop.abort(new Error('enough'));
    throw lost(host.address);
  };
  await expect(session.exec('agent.exe a', { signal: stop.signal })).rejects.toThrow();
  expect(host.connectionCount).toBe(1);
});

test('closes a connection that opens after the session was closed', async () => {
  const host = new LabHost(target.address);
  const { promise, resolve } = Promise.withResolvers<void>();
  const { session } = bench({
    open: async signal => {
      await promise;
      return host.connect(target, { signal });
    },
  });
  const connecting = session.connect(never);
  connecting.catch(() => undefined);
  await session[Symbol.asyncDispose]();
  resolve();
  await expect(connecting).rejects.toThrow('the session is closed');
  await settle();
  expect(host.openConnections).toBe(0);
});

test('a connection that comes after its caller has given up is closed', async () => {
  const host = new LabHost(target.address);
  const stop = new AbortController();
  const { session } = bench({
    open: async () => {
      const connection = await host.connect(target);
      stop.abort(new Error('enough'));
      return connection;
    },
  });
  await expect(session.connect(stop.signal)).rejects.toThrow('enough');
  expect(host.openConnections).toBe(0);
});

test('reports whether a connection stands', async () => {
  const { host, session } = bench();
  expect(session.ended.aborted).toBe(true);
  await session.connect(never);
  expect(session.ended.aborted).toBe(false);
  host.disconnect();
  expect(session.ended.aborted).toBe(true);
});

test('measures connections, and commands by their verb, failed ones too', async () => {
  const { host, session, metrics } = bench();
  await session.exec('C:\\k\\agent.exe inventory -o json', { signal: never });
  host.faults.exec = () => {
    throw new AppError('HOST_COMMAND_TIMEOUT', 'late', { remedy: 'x' });
  };
  await session.exec('C:\\k\\agent.exe inventory', { signal: never }).catch(() => undefined);
  expect(metrics.read(hostMetrics.commandSeconds, { verb: 'inventory' })).toBe(2);
  expect(metrics.read(hostMetrics.connectSeconds, {})).toBe(1);
});

test('asks for the size of a file, once more when the connection breaks', async () => {
  const { host, clock, session } = bench();
  host.model.fileTexts.set('C:\\k\\x', 'abc');
  await session.connect(never);
  host.disconnect();
  const asking = session.fileSize('C:\\k\\x', never);
  await clock.advance(1000);
  expect([await asking, await session.fileSize('C:\\k\\none', never)]).toEqual([3, undefined]);
  expect(session.usage()).toMatchObject({ execSessions: 0, sftpSessions: 1 });
});
