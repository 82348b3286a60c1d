import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';

/** Error numbers that the code handles. */
export const win32 = {
  fileNotFound: 2,
  pathNotFound: 3,
  accessDenied: 5,
  noMoreFiles: 18,
  sharingViolation: 32,
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

/**
 * The error of a failed Win32 call. The object is what it acted on, such as `service kubelet`. `advice` replaces remedies that do not
 * depend on the number.
 */
export function windowsError(call: string, object: string, number: number, advice?: string): AppError {
  const known = knownErrors[number];
  const meaning = known?.meaning ?? 'unknown';
  const message = `${call} failed for ${object}: Windows error ${number} (${meaning})`;
  const isMeant = known?.only === undefined || object.startsWith(known.only);
  const general = advice ?? `Run "net helpmsg ${number}" on the host and fix what it reports.`;
  const remedy = (isMeant ? known?.remedy : undefined) ?? general;
  return new AppError(known?.code ?? 'WINDOWS_CALL_FAILED', message, {
    remedy: remedy.replaceAll('<name>', object.replace(/^service /, '')),
  });
}

interface KnownError {
  meaning: string;
  code?: ErrorCode;
  /** `<name>` is replaced by the service. */
  remedy?: string;
  /** How the name of an object begins for which the remedy helps; all objects by default. */
  only?: string;
}

type Advice = Omit<KnownError, 'meaning'>;

const reboot = 'Reboot the host if the error persists for more than a few minutes.';
const log: Advice = { remedy: 'Check its log below C:\\var\\log on the host.' };
const program: Advice = { remedy: 'Check that the program in its command exists on the host.', only: 'service ' };
const memory: KnownError = { meaning: 'not enough memory', remedy: 'Free memory on the host.' };
const dependency: Advice = {
  code: 'WINDOWS_SERVICE_DEPENDENCY',
  remedy: 'List its dependencies with "sc.exe qc <name>" and check their logs.',
};
const account: Advice = {
  remedy: 'Let the service run as LocalSystem again: sc.exe config <name> obj= LocalSystem.',
};
const denied: Advice = {
  code: 'WINDOWS_ACCESS_DENIED',
  remedy: 'Run it as LocalSystem or as an elevated member of Administrators; check for a policy that forbids it.',
};

/** Error numbers that the calls of the agent can return. */
const knownErrors: Readonly<Record<number, KnownError>> = {
  2: { meaning: 'the file does not exist', ...program },
  3: { meaning: 'the path does not exist', ...program },
  5: { meaning: 'access denied', ...denied },
  6: { meaning: 'the handle is not valid' },
  8: memory,
  14: memory,
  32: { meaning: 'another process uses the file', remedy: reboot },
  87: { meaning: 'a parameter is not valid' },
  112: { meaning: 'the disk is full', remedy: 'Free space on the disk of the host.' },
  122: { meaning: 'the buffer is too small' },
  123: { meaning: 'the name is not valid' },
  124: { meaning: 'this version of Windows does not have the setting' },
  193: {
    meaning: 'the file is not a program for this machine',
    remedy: 'Wait for the operator to upload the file again; it may be truncated or built for another processor.',
  },
  234: { meaning: 'more data is available' },
  258: {
    meaning: 'it has not ended in time',
    remedy: 'Check for a debugger or virus scanner that protects it; if it persists, reboot the host.',
  },
  1051: { meaning: 'services that depend on it are running', remedy: reboot },
  1052: { meaning: 'the service does not accept the request', remedy: reboot },
  1053: {
    meaning: 'the service did not respond in time',
    code: 'WINDOWS_SERVICE_START_TIMEOUT',
    remedy: 'Check its log, and whether its program starts when run manually.',
  },
  1055: { meaning: 'the service database is locked', remedy: reboot },
  1056: { meaning: 'the service is already running', remedy: reboot },
  1057: { meaning: 'the account of the service does not exist, or the password is wrong', ...account },
  1058: {
    meaning: 'the service is disabled',
    code: 'WINDOWS_SERVICE_DISABLED',
    remedy: 'Find out who disabled it; enable it with: sc.exe config <name> start= demand.',
  },
  1059: { meaning: 'the service would depend on itself', ...dependency },
  1060: {
    meaning: 'the service does not exist',
    code: 'WINDOWS_SERVICE_MISSING',
    remedy: 'Wait: the agent creates missing services in its next pass.',
  },
  1061: { meaning: 'the service cannot be controlled at this moment', remedy: reboot },
  1062: { meaning: 'the service has not been started', remedy: reboot },
  1063: {
    meaning: 'the process was not started by the service manager',
    code: 'WINDOWS_NOT_A_SERVICE',
    remedy: 'Omit --windows-service to run it manually, or start it with: sc.exe start <name>.',
  },
  1066: { meaning: 'the service reported an error of its own', ...log },
  1067: { meaning: 'the process of the service ended unexpectedly', ...log },
  1068: { meaning: 'a service it depends on failed to start', ...dependency },
  1069: { meaning: 'its account could not log on', ...account },
  1070: { meaning: 'the service hung while starting', ...log },
  1072: {
    meaning: 'the service is marked for deletion',
    code: 'WINDOWS_SERVICE_DELETED',
    remedy: 'Close programs that hold it open, such as services.msc or Task Manager, or reboot.',
  },
  1073: {
    meaning: 'the service already exists',
    code: 'WINDOWS_SERVICE_EXISTS',
    remedy: 'Wait: the agent takes it over in its next pass.',
  },
  1075: { meaning: 'a service it depends on does not exist or is being deleted', ...dependency },
  1078: { meaning: 'the name is already the display name of another service' },
  1115: { meaning: 'Windows is shutting down', remedy: 'Wait for the reboot.' },
  1314: { meaning: 'a required privilege is not held', ...denied },
  1338: {
    meaning: 'the security descriptor is not valid',
    remedy: 'Inspect the file with icacls.exe and reset its rights with: icacls.exe <name> /reset.',
  },
  1450: { meaning: 'not enough system resources', remedy: 'Free memory on the host or reboot it.' },
  4390: { meaning: 'it is a link', remedy: 'Remove the link with rmdir, which keeps its target.' },
  1722: {
    meaning: 'the service manager cannot be reached',
    remedy: 'Reboot the host if it lasts longer than a minute.',
  },
};
