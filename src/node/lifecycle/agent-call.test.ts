import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { CommandResult } from '#host/host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { askAgent, callAgent } from './agent-call.ts';
import type { HostSession } from './host-session.ts';

const command = 'C:\\k\\agent.exe stage --bundle x -o json';
const call = (result: Partial<CommandResult>) => ({
  host: { exec: async () => ({ exitCode: 0, stdout: '', stderr: '', ...result }) } as unknown as HostSession,
  address: '10.0.0.5',
  command,
  signal: new AbortController().signal,
  timeoutMs: 1000,
});
const told = (code: string, message = 'kubelet stopped', remedy = 'Look.') =>
  JSON.stringify({ error: { code, message, remedy } });

test('gives what a command printed', async () => {
  expect(await callAgent(call({ stdout: 'done\n' }))).toBe('done\n');
});

const busy: CommandResult = { exitCode: 1, stdout: told('HOST_BUSY', 'stage since noon', 'Wait.'), stderr: '' };

test('waits while another command changes the host, and says so', async () => {
  const results = [busy, busy, busy, busy, { exitCode: 0, stdout: 'done', stderr: '' }];
  const [pauses, notes]: [number[], [text: string | undefined, obstacle: AppError | undefined][]] = [[], []];
  const host = { exec: async () => results.shift(), pause: async (ms: number) => void pauses.push(ms) };
  const note = (text?: string, obstacle?: AppError) => void notes.push([text, obstacle]);
  const waiting = { ...call({}), host: host as unknown as HostSession, note };
  expect(await callAgent(waiting)).toBe('done');
  expect(pauses).toEqual([1000, 2000, 4000, 5000]);
  expect(notes[0]).toMatchObject([
    'waiting for another command on the host (10.0.0.5: stage: stage since noon)',
    { code: 'HOST_BUSY', remedy: 'Wait.' },
  ]);
  expect(notes.at(-1)).toEqual([undefined, undefined]);
});

test('waits no longer than its signal', async () => {
  const late = new Error('late');
  const host = { exec: async () => busy, pause: () => Promise.reject(late) } as unknown as HostSession;
  await expect(callAgent({ ...call({}), host })).rejects.toBe(late);
});

test('reads a document', async () => {
  expect((await askAgent(call({ stdout: '{"placed": 3}' }))).number('placed')).toBe(3);
});

for (const [name, stdout] of [
  ['words', 'Placed 3 files'],
  ['nothing', ''],
  ['a list', '[1]'],
  ['a text', '"x"'],
] as const) {
  test(`refuses ${name} for a document, without repeating it`, async () => {
    const error = await rejectionOf(askAgent(call({ stdout })));
    expect(error).toMatchObject({
      code: 'AGENT_ANSWER_INVALID',
      message: expect.stringContaining('10.0.0.5: stage') as string,
    });
    expect(error?.remedy).toContain('stage --bundle x');
  });
}

const failures: [string, Partial<CommandResult>, code: string, message: string, remedy: string][] = [
  [
    'as a document',
    { stdout: told('SERVICE_NOT_SETTLED') },
    'SERVICE_NOT_SETTLED',
    '10.0.0.5: stage: kubelet stopped',
    'Look.',
  ],
  [
    'in words',
    { stderr: 'I0301 starting\nerror: SERVICE_NOT_SETTLED: kubelet stopped\n  -> Look.\n' },
    'SERVICE_NOT_SETTLED',
    '10.0.0.5: stage: kubelet stopped',
    'Look.',
  ],
  [
    'in words with the line ends of Windows',
    { stderr: 'BUNDLE_DAMAGED: it is\r\n  -> Upload it again.\r\n' },
    'BUNDLE_DAMAGED',
    '10.0.0.5: stage: it is',
    'Upload it again.',
  ],
  ['with a code that nobody knows', { stdout: told('MADE_UP') }, 'AGENT_COMMAND_FAILED', 'exit code 1', 'stage'],
  [
    'by another program',
    { stderr: 'Access is denied.' },
    'AGENT_COMMAND_FAILED',
    'and printed "Access is denied."',
    'stage',
  ],
  [
    'in another language',
    { stderr: 'Zugriff verweigert\r\n' },
    'AGENT_COMMAND_FAILED',
    '"Zugriff verweigert"',
    'stage',
  ],
  ['on standard output', { stdout: 'Get-Help: not found' }, 'AGENT_COMMAND_FAILED', '"Get-Help: not found"', 'stage'],
  ['without a word', { exitCode: 3221225794 }, 'AGENT_COMMAND_FAILED', 'failed with exit code 3221225794', 'stage'],
  ['with half a document', { stdout: '{"error": {"code": "USAGE"}}' }, 'AGENT_COMMAND_FAILED', 'exit code 1', 'stage'],
];
for (const [name, result, code, message, remedy] of failures) {
  test(`reports a failure that was told ${name}`, async () => {
    const error = await rejectionOf(callAgent(call({ exitCode: 1, ...result })));
    expect(error?.code).toBe(code);
    expect(error?.message).toContain(message);
    expect(error?.remedy).toContain(remedy);
  });
}

test('never shows more than a little of what a host prints, and on one line', async () => {
  const error = await rejectionOf(callAgent(call({ exitCode: 1, stderr: `a\n\u001b[31mb${'x'.repeat(10_000)}` })));
  expect(error?.message.length).toBeLessThan(300);
  for (const sign of ['\n', '\u001b']) expect(error?.message).not.toContain(sign);
});

test('whatever a host prints, it is an AppError', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), fc.integer({ min: 1, max: 255 }), async (stdout, stderr, exitCode) => {
      await callAgent(call({ stdout, stderr, exitCode })).then(
        () => expect.unreachable(),
        (error: unknown) => expect(error).toBeInstanceOf(AppError),
      );
    }),
    { numRuns: 1000 },
  );
});
