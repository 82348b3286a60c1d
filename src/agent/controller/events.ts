import { agentEvent } from '#contract/agent-report.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { PassOutcome } from '../reconcile/reconcile-host.ts';

/** Events that the agent reports; the operator creates them on the Node. */

const warning = (reason: string) => (message: string) => ({ type: 'Warning', reason, message }) as const;
const normal = (reason: string) => (message: string) => ({ type: 'Normal', reason, message }) as const;

const byCode: Partial<Record<ErrorCode, (message: string) => EventText>> = {
  CERTIFICATE_BUNDLE_MALFORMED: eventText.certificateReadError,
  INPUT_UNREADABLE: eventText.certificateReadError,
  SERVICES_INCOMPLETE: warning(agentEvent.serviceFailure),
  SERVICES_WAITING: warning(agentEvent.serviceFailure),
};

const configurationFailure = warning(agentEvent.configurationFailure);
const settingsChanged = normal('SettingsChanged');
const waitingForCertificate = normal('WaitingForCertificate');
const serviceStarted = normal(agentEvent.serviceStarted);
const serviceEnded = warning(agentEvent.serviceEnded);
const unplannedReboot = warning(agentEvent.unplannedReboot);
const fileRepaired = warning('FileRepaired');

/** The event for a failed pass; undefined for an unreachable cluster, which the report could not reach either. */
export function failureEvent(error: unknown): EventText | undefined {
  if (!(error instanceof AppError) || isAboutCluster(error.code)) return undefined;
  const text = byCode[error.code] ?? configurationFailure;
  return text(`${error.message}. ${error.remedy}`);
}

export function outcomeEvent(outcome: PassOutcome): EventText | undefined {
  return outcome.did === 'wait' ? waitingForCertificate(`Waiting for ${outcome.for}`) : undefined;
}

/** The event for changed variables and certificates; without values, which may contain a password. */
export function settingsEvent(changes: readonly string[]): EventText {
  return settingsChanged(`Changed ${changes.join(' and ')}; services are restarted for variables only`);
}

/** The operator takes the failure before it for over. */
export const recoveredEvent = normal(agentEvent.recovered)('The host is configured again');
/** The event after a reboot that was not ordered. */
export function unplannedRebootEvent(): EventText {
  return unplannedReboot(
    'The host was rebooted, but not by the operator: by Windows Update, by hand or by a power cut. Its networks, routes and services are being restored',
  );
}

/** The event while services wait for the network, which is part of every join. */
export const waitingEvent = normal(agentEvent.serviceWaiting);

export function repairEvent(paths: readonly string[]): EventText {
  return fileRepaired(`Restored files that had changed: ${paths.join(', ')}`);
}

/** The first few; all of them are in the log. */
export function securedEvent(events: readonly string[]): EventText {
  const more = events.length > maxSecured ? [`and ${events.length - maxSecured} more`] : [];
  return fileRepaired(`Fixed owner or rights: ${[...events.slice(0, maxSecured), ...more].join('; ')}`);
}

const maxSecured = 5;

export function startedEvent(services: readonly string[]): EventText {
  return serviceStarted(`Started services that were not running: ${services.join(', ')}`);
}

export function endedEvent(service: string, limitMs: number): EventText {
  return serviceEnded(`Ended the process of service ${service}, which did not stop within ${limitMs / 1000} s`);
}

export const renewalEvent = warning('CertificateRenewalFailure');

function isAboutCluster(code: ErrorCode): boolean {
  return /^(API_|CREDENTIAL_|AGENT_UNIDENTIFIED|AGENT_REPORT_MISSING|SYNC_TIMEOUT)/.test(code);
}
