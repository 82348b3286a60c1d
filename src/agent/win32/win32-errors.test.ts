import { expect, test } from 'vitest';
import { errorCodes } from '#base/error-codes.ts';
import { win32, windowsError } from './win32-errors.ts';

const cases: [number: number, code: string, remedy: RegExp][] = [
  [2, 'WINDOWS_CALL_FAILED', /program in its command/],
  [5, 'WINDOWS_ACCESS_DENIED', /Administrators/],
  [32, 'WINDOWS_CALL_FAILED', /^Reboot the host if the error persists/],
  [112, 'WINDOWS_CALL_FAILED', /Free space/],
  [193, 'WINDOWS_CALL_FAILED', /upload the file again/],
  [258, 'WINDOWS_CALL_FAILED', /reboot/],
  [1051, 'WINDOWS_CALL_FAILED', /^Reboot the host if the error persists/],
  [1053, 'WINDOWS_SERVICE_START_TIMEOUT', /log/],
  [1057, 'WINDOWS_CALL_FAILED', /LocalSystem/],
  [1058, 'WINDOWS_SERVICE_DISABLED', /sc\.exe config kubelet start= demand/],
  [1059, 'WINDOWS_SERVICE_DEPENDENCY', /sc\.exe qc kubelet/],
  [1060, 'WINDOWS_SERVICE_MISSING', /next pass/],
  [1063, 'WINDOWS_NOT_A_SERVICE', /sc\.exe start kubelet/],
  [1069, 'WINDOWS_CALL_FAILED', /sc\.exe config kubelet obj= LocalSystem/],
  [1072, 'WINDOWS_SERVICE_DELETED', /services\.msc/],
  [1073, 'WINDOWS_SERVICE_EXISTS', /takes it over/],
  [1075, 'WINDOWS_SERVICE_DEPENDENCY', /sc\.exe qc kubelet/],
  [1314, 'WINDOWS_ACCESS_DENIED', /Administrators/],
  [4711, 'WINDOWS_CALL_FAILED', /net helpmsg 4711/],
];
test.each(cases)('error %i has the code %s and a remedy', (number, code, remedy) => {
  const error = windowsError('StartServiceW', 'service kubelet', number);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(`StartServiceW failed for service kubelet: Windows error ${number} (`);
  expect(error.remedy).toMatch(remedy);
  expect(error.remedy).not.toContain('<');
});

test('a missing file has advice about programs for services only', () => {
  for (const object of ['the network adapters', 'C:\\k\\kubelet.exe', 'the host']) {
    expect(windowsError('f', object, 2).remedy).toBe('Run "net helpmsg 2" on the host and fix what it reports.');
    expect(windowsError('f', object, 2, 'Look.').remedy).toBe('Look.');
  }
});

test('explains every error number that the code handles, and those about services', () => {
  const numbers = [...Object.values(win32), ...Array.from({ length: 25 }, (_, index) => 1051 + index)];
  const unexplained = numbers.filter(number => /\(unknown\)/.test(windowsError('f', 'x', number).message));
  expect(unexplained).toEqual([18, 1054, 1064, 1065, 1071, 1074]);
});

test('has documented codes and remedies that are sentences', () => {
  for (let number = 0; number < 2000; number++) {
    const error = windowsError('f', 'the host', number);
    expect(errorCodes).toHaveProperty(error.code);
    expect(error.remedy).toMatch(/^[A-Z].*\.$/);
  }
});
