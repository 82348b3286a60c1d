import { expect, test } from 'vitest';
import type { AppError } from '#base/errors.ts';
import * as failures from './operation-failures.ts';

const write = { address: '10.1.2.3', verb: 'write', path: 'C:\\k\\x.exe' } as const;
const read = { ...write, verb: 'read' } as const;
const withCode = (code: number, message = 'Failure') => Object.assign(new Error(message), { code });
const command = 'C:\\k\\agent.exe inventory';

const cases: [name: string, error: AppError, code: string, says: string, remedy: RegExp][] = [
  [
    'a connection the host closed',
    failures.connectionLost('10.1.2.3', undefined),
    'HOST_CONNECTION_LOST',
    'broke: the host closed it',
    /network/,
  ],
  [
    'a connection that was reset',
    failures.connectionLost('10.1.2.3', new Error('read ECONNRESET')),
    'HOST_CONNECTION_LOST',
    'broke: "read ECONNRESET"',
    /host is up/,
  ],
  [
    'a silent host',
    failures.connectionLost('10.1.2.3', failures.noSignOfLife(20_000)),
    'HOST_CONNECTION_LOST',
    '"no sign of life for 20 s"',
    /host is up/,
  ],
  [
    'a connection we closed',
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
    'did not end within 60 s',
    /load/,
  ],
  [
    'a command without exit code',
    failures.noExitCode('10.1.2.3', command, undefined),
    'HOST_COMMAND_NO_EXIT_CODE',
    'ended without exit code',
    /rebooting/,
  ],
  [
    'a command that was killed',
    failures.noExitCode('10.1.2.3', command, 'SIGKILL'),
    'HOST_COMMAND_NO_EXIT_CODE',
    'by "SIGKILL"',
    /rebooting/,
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
    failures.transferTimeout(write, 'took', 900_000),
    'HOST_TRANSFER_TIMEOUT',
    'writing "C:\\\\k\\\\x.exe" took longer than 900 s',
    /disk/,
  ],
  [
    'a transfer that stood still',
    failures.transferTimeout(read, 'stood still', 60_000),
    'HOST_TRANSFER_TIMEOUT',
    'reading "C:\\\\k\\\\x.exe" made no progress for 60 s',
    /network/,
  ],
  [
    'a source that changed',
    failures.sourceChanged(write, 10, 9),
    'INPUT_UNREADABLE',
    'should have 10 bytes, but has 9',
    /change/,
  ],
  [
    'a source that cannot be read',
    failures.sourceUnreadable(write, new Error('EIO')),
    'INPUT_UNREADABLE',
    'cannot be read: "EIO"',
    /payload/,
  ],
  ['a full disk', failures.diskFull(write, 4096), 'HOST_DISK_FULL', 'only 4096 bytes left', /Free disk space/],
  [
    'a missing file',
    failures.fileFailure(read, withCode(2, 'No such file')),
    'HOST_FILE_MISSING',
    '(SFTP status 2, "No such file")',
    /exist/,
  ],
  [
    'a file that is not for us',
    failures.fileFailure(write, withCode(3, 'Permission denied')),
    'HOST_FILE_DENIED',
    'may not do that (SFTP status 3',
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
  ['something odd', failures.fileFailure(write, 'odd'), 'HOST_FILE_FAILED', '("odd")', /no program use/],
];
for (const [name, error, code, says, remedy] of cases) {
  test(`${name}: ${code}`, () => {
    expect(error.code).toBe(code);
    expect(error.message.startsWith('10.1.2.3: ')).toBe(true);
    expect(error.message).toContain(says);
    expect(error.remedy).toMatch(remedy);
  });
}

test('a message from the host that steers terminals is made harmless', () => {
  const { message } = failures.fileFailure(write, withCode(4, `\u001b]0;x\u0007${'y'.repeat(400)}`));
  expect(message).not.toContain('\u001b');
  expect(message.length).toBeLessThan(300);
});

test('causes are kept for logs', () => {
  const cause = new Error('x');
  expect(failures.connectionLost('a', cause).cause).toBe(cause);
  expect(failures.commandRefused('a', 'b', cause).cause).toBe(cause);
  expect(failures.fileFailure(write, cause).cause).toBe(cause);
});
