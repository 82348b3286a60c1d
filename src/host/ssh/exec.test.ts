import type { ServerChannel } from 'ssh2';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { makeKey, type SshServer, type SshServerSettings, startSshServer } from '../../../test/kit/ssh-server.ts';
import { until } from '../../../test/kit/until.ts';
import type { HostConnection } from '../host.ts';
import { connect } from './connect.ts';

const { key } = makeKey();
const command = 'C:\\k\\agent.exe inventory';

type Program = (channel: ServerChannel, asked: string) => void;

interface Bench extends AsyncDisposable {
  server: SshServer;
  host: HostConnection;
}

/** A host on which every command does this. */
async function hostWith(program: Program, more: SshServerSettings = {}): Promise<Bench> {
  const server = await startSshServer({ onExec: (asked, channel) => program(channel, asked), ...more });
  const target = { address: '127.0.0.1', port: server.port, username: 'a', privateKeys: [key], pinnedKey: undefined };
  const host = await connect(target);
  return {
    server,
    host,
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const exits =
  (code: number): Program =>
  channel => {
    channel.exit(code);
    channel.end();
  };
const says =
  (out: Uint8Array | string, err = ''): Program =>
  channel => {
    channel.stderr.write(err);
    channel.write(out, () => exits(0)(channel, ''));
  };
const hangs: Program = () => undefined;

for (const code of [0, 1, 2, 255, 9009, 0xc0000005, 0xffffffff]) {
  test(`an exit code of ${code} is a result`, async () => {
    await using bench = await hostWith(exits(code));
    expect(await bench.host.exec(command)).toEqual({ exitCode: code, stdout: '', stderr: '' });
  });
}

test('exec sends the command unchanged', async () => {
  const asked: string[] = [];
  await using bench = await hostWith((channel, text) => {
    asked.push(text);
    exits(0)(channel, text);
  });
  for (const text of [command, 'echo "a b"', 'é € \\ "']) await bench.host.exec(text);
  expect(asked).toEqual([command, 'echo "a b"', 'é € \\ "']);
});

test('exec separates stdout and stderr', async () => {
  await using bench = await hostWith(says('out\r\n', 'err\r\n'));
  expect(await bench.host.exec(command)).toEqual({ exitCode: 0, stdout: 'out\r\n', stderr: 'err\r\n' });
});

const texts: [name: string, bytes: Uint8Array, want: string][] = [
  ['UTF-8', Buffer.from('Größe 漢字'), 'Größe 漢字'],
  ['UTF-8 with a byte order mark', Buffer.from('\ufeff{}'), '{}'],
  ['the code page of a German console', Buffer.from([0x47, 0x72, 0x94, 0xe1, 0x65]), 'Gr\ufffd\ufffde'],
];
test.each(texts)('output in %s never breaks anything', async (_, bytes, want) => {
  await using bench = await hostWith(says(bytes));
  expect((await bench.host.exec(command)).stdout).toBe(want);
});

test('onOutput never gets half a character', async () => {
  const seen: [string, string][] = [];
  const euro = Buffer.from('€');
  await using bench = await hostWith(channel => {
    channel.write(euro.subarray(0, 1));
    channel.stderr.write('warning');
    setTimeout(() => {
      channel.write(euro.subarray(1));
      exits(0)(channel, '');
    }, 20);
  });
  const { stdout } = await bench.host.exec(command, { onOutput: (text, stream) => seen.push([stream, text]) });
  expect(stdout).toBe('€');
  const textOf = (wanted: string) => seen.flatMap(([stream, text]) => (stream === wanted && text ? [text] : []));
  expect([textOf('stdout'), textOf('stderr')]).toEqual([['€'], ['warning']]);
});

test('exec closes standard input', async () => {
  await using bench = await hostWith(channel => {
    channel.resume();
    channel.on('end', () => exits(3)(channel, ''));
  });
  expect((await bench.host.exec(command)).exitCode).toBe(3);
});

test('exec accepts output up to the limit', async () => {
  await using bench = await hostWith(says(Buffer.alloc(1024 * 1024, 'x')));
  expect((await bench.host.exec(command)).stdout).toHaveLength(1024 * 1024);
});

const floods: [name: string, program: Program][] = [
  ['one byte more', says(Buffer.alloc(1001, 'x'))],
  ['both streams together', says(Buffer.alloc(600, 'x'), 'y'.repeat(600))],
  ['a flood', says(Buffer.alloc(3_000_000, 'x'))],
];
for (const [name, program] of floods) {
  test(`${name} is too long, and the connection stays`, async () => {
    let isFlooding = true;
    await using bench = await hostWith((channel, asked) => (isFlooding ? program : exits(0))(channel, asked));
    const error = await rejectionOf(bench.host.exec(command, { maxOutputBytes: 1000 }));
    expect(error).toMatchObject({ code: 'HOST_OUTPUT_TOO_LONG' });
    expect(error?.message).toContain('more than 1000 bytes');
    isFlooding = false;
    expect((await bench.host.exec(command)).exitCode).toBe(0);
  });
}

const unfinished: [name: string, program: Program, message: RegExp][] = [
  ['without an exit code', channel => channel.end(), /ended without an exit code$/],
  ['with output but no exit code', channel => channel.end('bye'), /ended without an exit code$/],
  [
    'by a signal',
    channel => {
      channel.exit('KILL', false, 'killed');
      channel.end();
    },
    /by "SIGKILL"/,
  ],
];
test.each(unfinished)('a command that ends %s is reported from one that fails', async (_, program, message) => {
  await using bench = await hostWith(program);
  const error = await rejectionOf(bench.host.exec(command));
  expect(error?.code).toBe('HOST_COMMAND_NO_EXIT_CODE');
  expect(error?.message).toMatch(message);
  expect(error?.message).toContain('127.0.0.1: "agent.exe inventory"');
});

test('exec reports a host that starts no commands', async () => {
  const server = await startSshServer();
  const target = { address: '127.0.0.1', port: server.port, username: 'a', privateKeys: [key], pinnedKey: undefined };
  await using host = await connect(target);
  expect(await rejectionOf(host.exec(command))).toMatchObject({ code: 'HOST_COMMAND_REFUSED' });
  await server[Symbol.asyncDispose]();
});

/** A program that runs until its channel is closed. */
function endless(): { program: Program; closed: () => boolean } {
  let closed = false;
  const program: Program = channel => {
    channel.resume();
    channel.on('close', () => {
      closed = true;
    });
  };
  return { program, closed: () => closed };
}

test('exec closes the channel of a command at its timeout', async () => {
  const { program, closed } = endless();
  await using bench = await hostWith(program);
  const started = performance.now();
  const error = await rejectionOf(bench.host.exec(command, { timeoutMs: 100 }));
  expect(error).toMatchObject({ code: 'HOST_COMMAND_TIMEOUT' });
  expect(error?.message).toContain('did not finish within 0.1 s');
  expect(performance.now() - started).toBeLessThan(10_000);
  await until(closed);
  expect(bench.host.ended.aborted).toBe(false);
});

test('exec fails with the reason of the caller when it is aborted', async () => {
  const { program, closed } = endless();
  await using bench = await hostWith(program);
  const controller = new AbortController();
  const running = bench.host.exec(command, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error('not wanted')), 50);
  await expect(running).rejects.toThrow('not wanted');
  await until(closed);
  const late = bench.host.exec(command, { signal: controller.signal });
  await expect(late).rejects.toThrow('not wanted');
  expect(bench.host.usage().execSessions).toBe(1);
});

test('exec kills a command that starts after the abort', async () => {
  const { program, closed } = endless();
  await using bench = await hostWith(program);
  const controller = new AbortController();
  const running = bench.host.exec(command, { signal: controller.signal });
  controller.abort(new Error('at once'));
  await expect(running).rejects.toThrow('at once');
  await until(closed);
});

test('an error in onOutput ends the command but not the connection', async () => {
  await using bench = await hostWith(says('text'));
  const onOutput = () => {
    throw new Error('mistake');
  };
  await expect(bench.host.exec(command, { onOutput })).rejects.toThrow('mistake');
  expect((await bench.host.exec(command)).stdout).toBe('text');
});

test('exec reports a lost connection', async () => {
  await using bench = await hostWith(hangs);
  const running = rejectionOf(bench.host.exec(command));
  setTimeout(() => bench.server.cut(), 50);
  expect(await running).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
  expect(await rejectionOf(bench.host.exec(command))).toMatchObject({ code: 'HOST_CONNECTION_LOST' });
});

test('commands run in parallel', async () => {
  // Each ends only when all have begun.
  const begun: (() => void)[] = [];
  const names = Array.from({ length: 20 }, (_, index) => `command ${index}`);
  await using bench = await hostWith((channel, asked) => {
    begun.push(() => says(asked)(channel, asked));
    if (begun.length === names.length) for (const end of begun) end();
  });
  const results = await Promise.all(names.map(name => bench.host.exec(name)));
  expect(results.map(({ stdout }) => stdout)).toEqual(names);
  expect(bench.host.usage()).toMatchObject({ execSessions: 20, sftpSessions: 0 });
});

test('errors do not quote the output of a command', async () => {
  const secret = 'token-a8f3c2';
  await using bench = await hostWith(channel => {
    channel.write(secret);
    channel.end();
  });
  const error = await rejectionOf(bench.host.exec(command));
  expect(`${error?.message} ${error?.remedy} ${error?.stack}`).not.toContain(secret);
});
