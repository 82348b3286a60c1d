import type { ErrorCode } from '#base/error-codes.ts';
import { AppError, messageOf, shown } from '#base/errors.ts';
import { diskRemedy } from '#base/disk-remedy.ts';
import type { ExceededLimit } from './limits.ts';

export function connectionLost(address: string, cause: unknown): AppError {
  const why = cause === undefined ? 'the host closed it' : shown(messageOf(cause));
  return new AppError('HOST_CONNECTION_LOST', `${address}: the SSH connection was lost: ${why}`, {
    remedy: 'Check that the host is up and that no device on the network ends connections to its SSH port.',
    cause,
  });
}

export function noDataReceived(ms: number): Error {
  return new Error(`no data received for ${ms / 1000} s`);
}

export function connectionClosed(address: string): AppError {
  return new AppError('HOST_CONNECTION_LOST', `${address}: the SSH connection was closed`, {
    remedy: 'No action is needed: the work was canceled.',
  });
}

export function commandRefused(address: string, command: string, cause: unknown): AppError {
  const message = `${address}: the host did not start ${shownCommand(command)}: ${shown(messageOf(cause))}`;
  return new AppError('HOST_COMMAND_REFUSED', message, {
    remedy: 'Check ForceCommand and MaxSessions in C:\\ProgramData\\ssh\\sshd_config on the host.',
    cause,
  });
}

export function commandTimeout(address: string, command: string, ms: number): AppError {
  return new AppError(
    'HOST_COMMAND_TIMEOUT',
    `${address}: ${shownCommand(command)} did not finish within ${ms / 1000} s`,
    {
      remedy:
        'Find out what keeps the host busy: `Get-Process | Sort-Object CPU -Descending | Select-Object -First 10`. If the command still hangs at the next attempt, run `Restart-Computer -Force` on the host.',
    },
  );
}

/** Without the folder of the program, whose path alone would fill the message. */
function shownCommand(command: string): string {
  return shown(command.replace(/^\S+\\/, ''));
}

export function noExitCode(address: string, command: string, signal: string | undefined): AppError {
  const how = signal === undefined ? '' : `, by ${shown(signal)}`;
  return new AppError(
    'HOST_COMMAND_NO_EXIT_CODE',
    `${address}: ${shownCommand(command)} ended without an exit code${how}`,
    {
      remedy: 'Check whether the host was rebooted or a user ended the command.',
    },
  );
}

export function outputTooLong(address: string, what: string, maxBytes: number): AppError {
  return new AppError('HOST_OUTPUT_TOO_LONG', `${address}: ${shown(what)} returned more than ${maxBytes} bytes`, {
    remedy: 'Run the command, or open the file, on the host to see its content.',
  });
}

export function sftpMissing(address: string, cause: unknown): AppError {
  return new AppError('HOST_SFTP_MISSING', `${address}: the host does not offer SFTP: ${shown(messageOf(cause))}`, {
    remedy:
      'Add the line "Subsystem sftp sftp-server.exe" above the first line with Match in C:\\ProgramData\\ssh\\sshd_config on the host, then run `Restart-Service sshd` there.',
    cause,
  });
}

export interface FileAct {
  address: string;
  verb: 'read' | 'write' | 'delete';
  path: string;
}

export function transferTimeout(act: FileAct, limit: ExceededLimit, ms: number): AppError {
  const problem = limit === 'timeout' ? 'took longer than' : 'made no progress for';
  return new AppError('HOST_TRANSFER_TIMEOUT', `${describe(act)} ${problem} ${ms / 1000} s`, {
    remedy: 'Check the disk of the host and the network to it.',
  });
}

export function sourceChanged(act: FileAct, size: number, got: number): AppError {
  return new AppError('INPUT_UNREADABLE', `${describe(act)}: the source has ${got} bytes instead of ${size}`, {
    remedy: 'Do not change files during their upload.',
  });
}

export function sourceUnreadable(act: FileAct, cause: unknown): AppError {
  return new AppError('INPUT_UNREADABLE', `${describe(act)}: the source cannot be read: ${shown(messageOf(cause))}`, {
    remedy: 'Check the payload files of the operator.',
    cause,
  });
}

export function diskFull(act: FileAct, freeBytes: number): AppError {
  return new AppError('HOST_DISK_FULL', `${describe(act)}: the disk has only ${freeBytes} bytes left`, {
    remedy: diskRemedy('4 GB'),
  });
}

/** Translates the status of an SFTP server. */
export function fileFailure(act: FileAct, error: unknown): AppError {
  const { code: status } = (error ?? {}) as { code?: unknown };
  const row = (typeof status === 'number' ? statusRows.get(status) : undefined) ?? otherStatus;
  const detail = typeof status === 'number' ? `SFTP status ${status}, ` : '';
  return new AppError(row.code, `${describe(act)}: ${row.problem} (${detail}${shown(messageOf(error))})`, {
    remedy: row.remedy,
    cause: error,
  });
}

export const sftpStatus = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3, failure: 4 } as const;

interface StatusRow {
  code: ErrorCode;
  problem: string;
  remedy: string;
}

const statusRows: ReadonlyMap<number, StatusRow> = new Map([
  [
    sftpStatus.noSuchFile,
    {
      code: 'HOST_FILE_MISSING',
      problem: 'no such file or folder',
      remedy: 'Check on the host that the file and the drive exist.',
    },
  ],
  [
    sftpStatus.permissionDenied,
    {
      code: 'HOST_FILE_DENIED',
      problem: 'permission denied',
      remedy:
        'Add the user to Administrators, check the permissions of the folder, and end programs that use the file.',
    },
  ],
]);

const otherStatus: StatusRow = {
  code: 'HOST_FILE_FAILED',
  problem: 'the SFTP server failed',
  remedy: 'Check on the host that no program uses the file and that the disk works.',
};

function describe({ address, verb, path }: FileAct): string {
  return `${address}: ${gerunds[verb]} ${shown(path)}`;
}

const gerunds: Readonly<Record<FileAct['verb'], string>> = { read: 'reading', write: 'writing', delete: 'deleting' };
