import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { ApiError } from '#kube/api-error.ts';
import { failureEvent, outcomeEvent, renewalEvent, repairEvent, settingsEvent } from './events.ts';

const failure = (code: ErrorCode) => new AppError(code, 'it broke', { remedy: 'Mend it.' });

const failures: [code: ErrorCode, reason: string][] = [
  ['CERTIFICATE_BUNDLE_MALFORMED', 'CertificateReadError'],
  ['INPUT_UNREADABLE', 'CertificateReadError'],
  ['SERVICES_INCOMPLETE', 'ServiceFailure'],
  ['SERVICES_WAITING', 'ServiceFailure'],
  ['SERVICES_MALFORMED', 'ConfigurationFailure'],
  ['OBJECT_MISSING', 'ConfigurationFailure'],
  ['NODE_NOT_READY', 'ConfigurationFailure'],
  ['FILE_DAMAGED', 'ConfigurationFailure'],
  ['PASS_TIMEOUT', 'ConfigurationFailure'],
];
for (const [code, reason] of failures) {
  test(`reports ${code} as ${reason}, with what to do`, () =>
    expect(failureEvent(failure(code))).toEqual({ type: 'Warning', reason, message: 'it broke. Mend it.' }));
}

const silent: [name: string, error: unknown][] = [
  ['a server out of reach', failure('API_UNREACHABLE')],
  ['a deadline of the server', failure('API_DEADLINE')],
  ['a credential that cannot be read', failure('CREDENTIAL_UNREADABLE')],
  ['an agent that nobody knows', failure('AGENT_UNIDENTIFIED')],
  ['a watch that cannot begin', failure('SYNC_TIMEOUT')],
  ['a report that does not exist', failure('AGENT_REPORT_MISSING')],
  ['a refusal of the server', new ApiError({ code: 403, reason: 'Forbidden' }, 'GET /')],
  ['a mistake of ours, which is for the log', new TypeError('x is not a function')],
];
for (const [name, error] of silent) {
  test(`leaves out ${name}`, () => expect(failureEvent(error)).toBeUndefined());
}

test('reports which settings were changed', () => {
  expect(settingsEvent(['one', 'two'])).toEqual({
    type: 'Normal',
    reason: 'SettingsChanged',
    message: 'Changed one and two; services are restarted for variables only',
  });
});

test('reports what a pass waits for, and nothing about other passes', () => {
  expect(outcomeEvent({ did: 'wait', for: 'a certificate' })).toEqual({
    type: 'Normal',
    reason: 'WaitingForCertificate',
    message: 'Waiting for a certificate',
  });
  expect(outcomeEvent({ did: 'skip', why: '' })).toBeUndefined();
  expect(outcomeEvent({ did: 'configure', version: 'v1' })).toBeUndefined();
});

test('names files that were fixed', () => {
  expect(repairEvent(['C:\\k\\a.exe', 'C:\\k\\b.exe'])).toMatchObject({
    type: 'Warning',
    reason: 'FileRepaired',
    message: expect.stringContaining('C:\\k\\a.exe, C:\\k\\b.exe'),
  });
});

test('reports a certificate that cannot be renewed', () => {
  expect(renewalEvent('denied')).toEqual({ type: 'Warning', reason: 'CertificateRenewalFailure', message: 'denied' });
});
