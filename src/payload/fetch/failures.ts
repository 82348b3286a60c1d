import { AppError, messageOf } from '#base/errors.ts';

/** A failure that another attempt may not meet. */
export class Transient extends Error {
  /** What the server asks for. */
  readonly waitMs: number;

  constructor(message: string, { waitMs = 0, cause }: { waitMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.waitMs = waitMs;
  }
}

export function downloadFailed(what: string, why: string, remedy?: string, cause?: unknown): AppError {
  return new AppError('PAYLOAD_DOWNLOAD_FAILED', `${what}: ${why}`, {
    remedy: remedy ?? 'Check the address in the lock and the network, and run the command again: it goes on.',
    cause,
  });
}

export function downloadDiffers(what: string, actual: string, expected: string): AppError {
  return new AppError('PAYLOAD_DOWNLOAD_DIFFERS', `${what} has SHA-256 ${actual}, but the lock has ${expected}`, {
    remedy: 'Find out why it changed before you correct the lock: a vendor that replaces a release says so.',
  });
}

export function archiveRefused(what: string, why: string, cause?: unknown): AppError {
  return new AppError('PAYLOAD_ARCHIVE_REFUSED', `${what} ${why}`, {
    remedy: 'Compare source and member in the lock with what the vendor publishes.',
    cause,
  });
}

const certificateProblem = /CERT|SELF_SIGNED|ISSUER|UNABLE_TO_VERIFY|ALTNAME/;

/** What a failed connection means; other attempts do not help with names and certificates. */
export function connectionFailure(what: string, error: unknown): Error {
  if (error instanceof Transient) return error;
  if (error instanceof AppError)
    return error.code.startsWith('PAYLOAD_') ? error : downloadFailed(what, error.message, undefined, error);
  // A full disk is no matter of the server.
  if (isSystemError(error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  const why = reasonOf(error);
  if (certificateProblem.test(code) && !code.includes('ALERT'))
    return downloadFailed(
      what,
      `its certificate is not trusted: ${why}`,
      'Pass the CA of the server or of the proxy with --ca-file.',
      error,
    );
  if (code === 'ENOTFOUND') return downloadFailed(what, `its name is unknown (${why})`, undefined, error);
  return new Transient(why, { cause: error });
}

/** Of a file or folder. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  const codes = [
    'EACCES',
    'EDQUOT',
    'EEXIST',
    'EFBIG',
    'EIO',
    'EISDIR',
    'ENOENT',
    'ENOSPC',
    'ENOTDIR',
    'EPERM',
    'EROFS',
  ];
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  return error instanceof Error && syscall !== 'connect' && codes.includes(code);
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(reasonOf).join('; ');
  const text = messageOf(error);
  return text === 'aborted' || text === 'socket hang up' ? 'the connection was cut' : text;
}
