import { expect, test } from 'vitest';
import { errorCodes } from '#base/error-codes.ts';
import { win32, windowsError } from './win32-errors.ts';

const cases: [number: number, code: string, meaning: string, remedy: RegExp][] = [
  [2, 'WINDOWS_CALL_FAILED', 'the file does not exist', /program named in the command/],
  [5, 'WINDOWS_ACCESS_DENIED', 'access denied', /Administrators/],
  [32, 'WINDOWS_CALL_FAILED', 'another process uses the file', /^Wait; this usually goes away/],
  [112, 'WINDOWS_CALL_FAILED', 'the disk is full', /Free space/],
  [193, 'WINDOWS_CALL_FAILED', 'the file is no program for this machine', /staged again/],
  [258, 'WINDOWS_CALL_FAILED', 'it has not ended in time', /reboot/],
  [1051, 'WINDOWS_CALL_FAILED', 'services that depend on it still run', /^Wait; this usually goes away/],
  [1053, 'WINDOWS_SERVICE_START_TIMEOUT', 'the service did not answer in time', /log/],
  [1056, 'WINDOWS_CALL_FAILED', 'the service runs already', /^Wait; this usually goes away/],
  [1057, 'WINDOWS_CALL_FAILED', 'the account of the service does not exist, or the password is wrong', /LocalSystem/],
  [1058, 'WINDOWS_SERVICE_DISABLED', 'the service is disabled', /sc\.exe config kubelet start= demand/],
  [1059, 'WINDOWS_SERVICE_DEPENDENCY', 'the service would depend on itself', /depends on/],
  [1060, 'WINDOWS_SERVICE_MISSING', 'there is no such service', /next pass/],
  [1061, 'WINDOWS_CALL_FAILED', 'the service cannot be controlled at this moment', /^Wait; this usually goes away/],
  [1062, 'WINDOWS_CALL_FAILED', 'the service has not been started', /^Wait; this usually goes away/],
  [1063, 'WINDOWS_NOT_A_SERVICE', 'the process was not started by the service manager', /sc\.exe start kubelet/],
  [1068, 'WINDOWS_SERVICE_DEPENDENCY', 'a service it depends on failed to start', /logs/],
  [1069, 'WINDOWS_CALL_FAILED', 'its account could not log on', /sc\.exe config kubelet obj= LocalSystem/],
  [1072, 'WINDOWS_SERVICE_DELETED', 'the service is marked for deletion', /services\.msc/],
  [1073, 'WINDOWS_SERVICE_EXISTS', 'the service exists already', /takes it over/],
  [1075, 'WINDOWS_SERVICE_DEPENDENCY', 'a service it depends on does not exist or is being deleted', /depends on/],
  [1115, 'WINDOWS_CALL_FAILED', 'Windows is shutting down', /reboot/],
  [1314, 'WINDOWS_ACCESS_DENIED', 'a privilege is not held', /Administrators/],
  [4711, 'WINDOWS_CALL_FAILED', 'not one this program knows', /net helpmsg 4711/],
  [0, 'WINDOWS_CALL_FAILED', 'not one this program knows', /net helpmsg 0/],
];
test.each(cases)('error %i is %s', (number, code, meaning, remedy) => {
  const error = windowsError('StartServiceW', 'service kubelet', number);
  expect(error.code).toBe(code);
  expect(error.message).toBe(`StartServiceW failed for service kubelet: Windows error ${number} (${meaning})`);
  expect(error.remedy).toMatch(remedy);
  expect(error.remedy).not.toContain('<');
});

test('every number that the code tells apart, and every one around services, can be explained', () => {
  const numbers = [...Object.values(win32), ...Array.from({ length: 25 }, (_, index) => 1051 + index)];
  const unexplained = numbers.filter(number => /not one this program/.test(windowsError('f', 'x', number).message));
  expect(unexplained).toEqual([18, 1054, 1064, 1065, 1071, 1074]);
});

test('codes are documented and remedies are sentences', () => {
  for (let number = 0; number < 2000; number++) {
    const error = windowsError('f', 'the host', number);
    expect(errorCodes).toHaveProperty(error.code);
    expect(error.remedy).toMatch(/^[A-Z].*\.$/);
  }
});
