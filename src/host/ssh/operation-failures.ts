import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';

/** Failures of a connection that stood. All of them name the host by its address, and commands and paths by their text. */

export function connectionLost(address: string, cause: unknown): AppError {
  const why = cause === undefined ? 'the host closed it' : shown(messageOf(cause));
  return new AppError('HOST_CONNECTION_LOST', `${address}: the connection broke: ${why}`, {
    remedy: 'Check that the host is up and the network to it works.',
    cause,
  });
}

export function noSignOfLife(ms: number): Error {
  return new Error(`no sign of life for ${ms / 1000} s`);
}

export function connectionClosed(address: string): AppError {
  return new AppError('HOST_CONNECTION_LOST', `${address}: the connection was closed`, {
    remedy: 'No action is needed: the work was canceled.',
  });
}

export function commandRefused(address: string, command: string, cause: unknown): AppError {
  const message = `${address}: the host did not start ${shownCommand(command)}: ${shown(messageOf(cause))}`;
  return new AppError('HOST_COMMAND_REFUSED', message, {
    remedy: 'Check on the host that the user may run commands over SSH (ForceCommand, MaxSessions in sshd_config).',
    cause,
  });
}

export function commandTimeout(address: string, command: string, ms: number): AppError {
  return new AppError(
    'HOST_COMMAND_TIMEOUT',
    `${address}: ${shownCommand(command)} did not end within ${ms / 1000} s`,
    {
      remedy: 'Look at the load of the host and at what the command waits for.',
    },
  );
}

/** Without the folders of its program, of which the path alone would be as long as what is shown. */
function shownCommand(command: string): string {
  return shown(command.replace(/^\S+\\/, ''));
}

export function noExitCode(address: string, command: string, signal: string | undefined): AppError {
  const how = signal === undefined ? '' : `, by ${shown(signal)}`;
  return new AppError(
    'HOST_COMMAND_NO_EXIT_CODE',
    `${address}: ${shownCommand(command)} ended without exit code${how}`,
    {
      remedy: 'The host was rebooting, or somebody ended the command.',
    },
  );
}

export function outputTooLong(address: string, what: string, maxBytes: number): AppError {
  return new AppError('HOST_OUTPUT_TOO_LONG', `${address}: ${shown(what)} gives more than ${maxBytes} bytes`, {
    remedy: 'Run the command, or look at the file, on the host to see what it says.',
  });
}

export function sftpMissing(address: string, cause: unknown): AppError {
  return new AppError('HOST_SFTP_MISSING', `${address}: the host does not offer SFTP: ${shown(messageOf(cause))}`, {
    remedy: 'Add the line "Subsystem sftp sftp-server.exe" to C:\\ProgramData\\ssh\\sshd_config and restart sshd.',
    cause,
  });
}

/** What was done with a file. */
export interface FileAct {
  address: string;
  verb: 'read' | 'write';
  path: string;
}

export function transferTimeout(act: FileAct, why: 'took' | 'stood still', ms: number): AppError {
  const says = why === 'took' ? 'took longer than' : 'made no progress for';
  return new AppError('HOST_TRANSFER_TIMEOUT', `${told(act)} ${says} ${ms / 1000} s`, {
    remedy: 'Look at the disk of the host and at the network to it.',
  });
}

export function sourceChanged(act: FileAct, size: number, got: number): AppError {
  return new AppError('INPUT_UNREADABLE', `${told(act)}: the source should have ${size} bytes, but has ${got}`, {
    remedy: 'Do not change files while they are sent.',
  });
}

export function sourceUnreadable(act: FileAct, cause: unknown): AppError {
  return new AppError('INPUT_UNREADABLE', `${told(act)}: the source cannot be read: ${shown(messageOf(cause))}`, {
    remedy: 'Check the payload of the operator.',
    cause,
  });
}

export function diskFull(act: FileAct, freeBytes: number): AppError {
  return new AppError('HOST_DISK_FULL', `${told(act)}: the disk has only ${freeBytes} bytes left`, {
    remedy: 'Free disk space on the host.',
  });
}

/** What to make of the status an SFTP server answers with. */
export function fileFailure(act: FileAct, error: unknown): AppError {
  const { code: status } = (error ?? {}) as { code?: unknown };
  const row = (typeof status === 'number' ? statusRows.get(status) : undefined) ?? otherStatus;
  const detail = typeof status === 'number' ? `SFTP status ${status}, ` : '';
  return new AppError(row.code, `${told(act)}: ${row.says} (${detail}${shown(messageOf(error))})`, {
    remedy: row.remedy,
    cause: error,
  });
}

export const sftpStatus = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3, failure: 4 } as const;

interface StatusRow {
  code: ErrorCode;
  says: string;
  remedy: string;
}

const statusRows: ReadonlyMap<number, StatusRow> = new Map([
  [
    sftpStatus.noSuchFile,
    {
      code: 'HOST_FILE_MISSING',
      says: 'there is no such file or folder',
      remedy: 'Check on the host that the file and the drive exist.',
    },
  ],
  [
    sftpStatus.permissionDenied,
    {
      code: 'HOST_FILE_DENIED',
      says: 'the user may not do that',
      remedy:
        'Make the user a member of Administrators, check the permissions of the folder, and end programs that use the file.',
    },
  ],
]);

const otherStatus: StatusRow = {
  code: 'HOST_FILE_FAILED',
  says: 'the host could not do that',
  remedy: 'Check on the host that no program uses the file and that the disk works.',
};

function told({ address, verb, path }: FileAct): string {
  return `${address}: ${verb === 'write' ? 'writing' : 'reading'} ${shown(path)}`;
}
