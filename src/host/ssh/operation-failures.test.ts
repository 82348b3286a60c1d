import { expect, test } from 'vitest';
import type { AppError } from '#base/errors.ts';
import * as failures from './operation-failures.ts';

const write = { address: '10.1.2.3', verb: 'write', path: 'C:\\k\\x.exe' } as const;
const read = { ...write, verb: 'read' } as const;
const withCode = (code: number, message = 'Failure') => Object.assign(new Error(message), { code });
const command = 'C:\\k\\agent.exe inventory';

const cases: [name: string, error: AppError, code: string, problem: string, remedy: RegExp][] = [
  [
    'a connection the host closed',
    failures.connectionLost('10.1.2.3', undefined),
    'HOST_CONNECTION_LOST',
    'was lost: the host closed it',
    /host is up/,
  ],
  [
    'a connection that was reset',
    failures.connectionLost('10.1.2.3', new Error('read ECONNRESET')),
    'HOST_CONNECTION_LOST',
    'was lost: "read ECONNRESET"',
    /host is up/,
  ],
  [
    'a silent host',
    failures.connectionLost('10.1.2.3', failures.noDataReceived(20_000)),
    'HOST_CONNECTION_LOST',
    '"no data received for 20 s"',
    /host is up/,
  ],
  [
    'a connection closed by the operator',
    failures.connectionClosed('10.1.2.3'),
    'HOST_CONNECTION_LOST',
    'was closed',
    /No action is needed/,
  ],
  [
    'a command that was refused',
    failures.commandRefused('10.1.2.3', command, new Error('Unable to exec')),
    'HOST_COMMAND_REFUSED',
    '"agent.exe inventory": "Unable to exec"',
    /MaxSessions/,
  ],
  [
    'a command that took too long',
    failures.commandTimeout('10.1.2.3', command, 60_000),
    'HOST_COMMAND_TIMEOUT',
    'did not finish within 60 s',
    /Restart-Computer/,
  ],
  [
    'a command without an exit code',
    failures.noExitCode('10.1.2.3', command, undefined),
    'HOST_COMMAND_NO_EXIT_CODE',
    'ended without an exit code',
    /rebooted/,
  ],
  [
    'a command that was killed',
    failures.noExitCode('10.1.2.3', command, 'SIGKILL'),
    'HOST_COMMAND_NO_EXIT_CODE',
    'by "SIGKILL"',
    /rebooted/,
  ],
  [
    'too much output',
    failures.outputTooLong('10.1.2.3', command, 1024),
    'HOST_OUTPUT_TOO_LONG',
    'more than 1024 bytes',
    /on the host/,
  ],
  [
    'a host without SFTP',
    failures.sftpMissing('10.1.2.3', new Error('Unable to start subsystem: sftp')),
    'HOST_SFTP_MISSING',
    '"Unable to start subsystem: sftp"',
    /Subsystem sftp/,
  ],
  [
    'a transfer that took too long',
    failures.transferTimeout(write, 'timeout', 900_000),
    'HOST_TRANSFER_TIMEOUT',
    'writing "C:\\\\k\\\\x.exe" took longer than 900 s',
    /disk/,
  ],
  [
    'a transfer without progress',
    failures.transferTimeout(read, 'stall', 60_000),
    'HOST_TRANSFER_TIMEOUT',
    'reading "C:\\\\k\\\\x.exe" made no progress for 60 s',
    /network/,
  ],
  [
    'a source that changed',
    failures.sourceChanged(write, 10, 9),
    'INPUT_UNREADABLE',
    'has 9 bytes instead of 10',
    /change/,
  ],
  [
    'a source that cannot be read',
    failures.sourceUnreadable(write, new Error('EIO')),
    'INPUT_UNREADABLE',
    'cannot be read: "EIO"',
    /payload/,
  ],
  ['a full disk', failures.diskFull(write, 4096), 'HOST_DISK_FULL', 'only 4096 bytes left', /Free 4 GB more/],
  [
    'a missing file',
    failures.fileFailure(read, withCode(2, 'No such file')),
    'HOST_FILE_MISSING',
    '(SFTP status 2, "No such file")',
    /exist/,
  ],
  [
    'a file without permission',
    failures.fileFailure(write, withCode(3, 'Permission denied')),
    'HOST_FILE_DENIED',
    'permission denied (SFTP status 3',
    /Administrators/,
  ],
  [
    'any other status',
    failures.fileFailure(write, withCode(4)),
    'HOST_FILE_FAILED',
    '(SFTP status 4, "Failure")',
    /no program uses the file/,
  ],
  [
    'a session that ended',
    failures.fileFailure(write, new Error('the host ended the SFTP session')),
    'HOST_FILE_FAILED',
    '("the host ended the SFTP session")',
    /no program use/,
  ],
  ['a thrown string', failures.fileFailure(write, 'odd'), 'HOST_FILE_FAILED', '("odd")', /no program use/],
];
for (const [name, error, code, problem, remedy] of cases) {
  test(`reports ${name} as ${code}`, () => {
    expect(error.code).toBe(code);
    expect(error.message.startsWith('10.1.2.3: ')).toBe(true);
    expect(error.message).toContain(problem);
    expect(error.remedy).toMatch(remedy);
  });
}

test('escapes control characters in a message of the host', () => {
  const { message } = failures.fileFailure(write, withCode(4, `\u001b]0;x\u0007${'y'.repeat(400)}`));
  expect(message).not.toContain('\u001b');
  expect(message.length).toBeLessThan(300);
});

test('keeps the cause for logs', () => {
  const cause = new Error('x');
  expect(failures.connectionLost('a', cause).cause).toBe(cause);
  expect(failures.commandRefused('a', 'b', cause).cause).toBe(cause);
  expect(failures.fileFailure(write, cause).cause).toBe(cause);
});
