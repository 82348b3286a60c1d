import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';

/** Numbers that the code tells apart. */
export const win32 = {
  fileNotFound: 2,
  pathNotFound: 3,
  accessDenied: 5,
  noMoreFiles: 18,
  invalidParameter: 87,
  insufficientBuffer: 122,
  invalidLevel: 124,
  moreData: 234,
  timedOut: 258,
  serviceDidNotAnswer: 1053,
  serviceAlreadyRunning: 1056,
  serviceMissing: 1060,
  serviceTakesNoControl: 1061,
  serviceNotActive: 1062,
  notStartedByManager: 1063,
  serviceMarkedForDeletion: 1072,
  invalidDescriptor: 1338,
  isLink: 4390,
} as const;

/** The error of a Win32 call that failed. The object says what it was about, such as `service kubelet`. */
export function windowsError(call: string, object: string, number: number): AppError {
  const known = knownErrors[number];
  const meaning = known?.meaning ?? 'not one this program knows';
  const message = `${call} failed for ${object}: Windows error ${number} (${meaning})`;
  const remedy = known?.remedy ?? `Run "net helpmsg ${number}" on the host and fix what it reports.`;
  return new AppError(known?.code ?? 'WINDOWS_CALL_FAILED', message, {
    remedy: remedy.replaceAll('<name>', object.replace(/^service /, '')),
  });
}

interface KnownError {
  meaning: string;
  code?: ErrorCode;
  /** `<name>` stands for the service. */
  remedy?: string;
}

const waits = 'Wait; this usually goes away by itself.';
const dependency: Pick<KnownError, 'code' | 'remedy'> = {
  code: 'WINDOWS_SERVICE_DEPENDENCY',
  remedy: 'Look with "sc.exe qc" which services it depends on, and into their logs.',
};
const account: Pick<KnownError, 'remedy'> = {
  remedy: 'Let the service run as LocalSystem again: sc.exe config <name> obj= LocalSystem.',
};

/** What Windows means by its numbers, for those that can be met here, and what helps. */
const knownErrors: Readonly<Record<number, KnownError>> = {
  2: { meaning: 'the file does not exist', remedy: 'Look whether the program named in the command is on the host.' },
  3: { meaning: 'the path does not exist', remedy: 'Look whether the program named in the command is on the host.' },
  5: {
    meaning: 'access denied',
    code: 'WINDOWS_ACCESS_DENIED',
    remedy:
      'Run it as LocalSystem or as a member of Administrators with full rights; look for a policy that forbids it.',
  },
  6: { meaning: 'the handle is not valid' },
  8: { meaning: 'not enough memory', remedy: 'Free memory on the host.' },
  14: { meaning: 'not enough memory', remedy: 'Free memory on the host.' },
  32: { meaning: 'another process uses the file', remedy: waits },
  87: { meaning: 'a parameter is not valid' },
  112: { meaning: 'the disk is full', remedy: 'Free space on the disk of the host.' },
  122: { meaning: 'the buffer is too small' },
  123: { meaning: 'the name is not valid' },
  124: { meaning: 'this Windows does not know the setting' },
  193: {
    meaning: 'the file is no program for this machine',
    remedy: 'Have the file staged again; it may be cut short or for another processor.',
  },
  234: { meaning: 'more data is available' },
  258: {
    meaning: 'it has not ended in time',
    remedy: 'Look who protects or debugs it, a virus scanner perhaps; if it stays, reboot the host.',
  },
  1051: { meaning: 'services that depend on it still run', remedy: waits },
  1052: { meaning: 'the service does not accept the request', remedy: waits },
  1053: {
    meaning: 'the service did not answer in time',
    code: 'WINDOWS_SERVICE_START_TIMEOUT',
    remedy: 'Look into its log and whether its program can be run by hand.',
  },
  1055: { meaning: 'the database of services is locked', remedy: waits },
  1056: { meaning: 'the service runs already', remedy: waits },
  1057: { meaning: 'the account of the service does not exist, or the password is wrong', ...account },
  1058: {
    meaning: 'the service is disabled',
    code: 'WINDOWS_SERVICE_DISABLED',
    remedy: 'Find out who disabled it; enable it with: sc.exe config <name> start= demand.',
  },
  1059: { meaning: 'the service would depend on itself', ...dependency },
  1060: {
    meaning: 'there is no such service',
    code: 'WINDOWS_SERVICE_MISSING',
    remedy: 'Nothing has to be done: the next pass creates the services that are missing.',
  },
  1061: { meaning: 'the service cannot be controlled at this moment', remedy: waits },
  1062: { meaning: 'the service has not been started', remedy: waits },
  1063: {
    meaning: 'the process was not started by the service manager',
    code: 'WINDOWS_NOT_A_SERVICE',
    remedy: 'Leave out --windows-service to run it by hand, or start it with: sc.exe start <name>.',
  },
  1066: { meaning: 'the service reported an error of its own', remedy: 'Look into its log.' },
  1067: {
    meaning: 'the process of the service ended unexpectedly',
    remedy: 'Look into its log.',
  },
  1068: { meaning: 'a service it depends on failed to start', ...dependency },
  1069: { meaning: 'its account could not log on', ...account },
  1070: { meaning: 'the service hung while starting', remedy: 'Look into its log.' },
  1072: {
    meaning: 'the service is marked for deletion',
    code: 'WINDOWS_SERVICE_DELETED',
    remedy: 'Close programs that hold it open, such as services.msc or Task Manager, or reboot.',
  },
  1073: {
    meaning: 'the service exists already',
    code: 'WINDOWS_SERVICE_EXISTS',
    remedy: 'Nothing has to be done: the next pass takes it over.',
  },
  1075: { meaning: 'a service it depends on does not exist or is being deleted', ...dependency },
  1078: { meaning: 'the name is taken as the display name of another service' },
  1115: { meaning: 'Windows is shutting down', remedy: 'Wait for the reboot.' },
  1314: {
    meaning: 'a privilege is not held',
    code: 'WINDOWS_ACCESS_DENIED',
    remedy:
      'Run it as LocalSystem or as a member of Administrators with full rights; look for a policy that forbids it.',
  },
  1338: {
    meaning: 'the security descriptor is not valid',
    remedy: 'Look at the file with icacls.exe and set its rights anew with icacls.exe /reset.',
  },
  1450: {
    meaning: 'system resources do not suffice',
    remedy: 'Free memory on the host or reboot it.',
  },
  4390: {
    meaning: 'it is a link',
    remedy: 'Remove the link with rmdir, which leaves what it leads to.',
  },
  1722: { meaning: 'the service manager cannot be reached', remedy: 'Wait, or reboot the host.' },
};
