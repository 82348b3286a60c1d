import { textFromBase64 } from '#base/bytes.ts';
import { type Clock, timestamp } from '#base/clock.ts';
import { AppError, isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { findCondition } from '#base/condition.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { type CertificateSigningRequest, certificateSigningRequests as requests } from '#kube/resources.ts';
import { type AgentCertificate, readCertificate, subjectProblem } from './certificate.ts';
import type { Subject } from './kept-identity.ts';
import type { KeptKey } from './key.ts';
import { retryDelayMs, validityProblem } from './lifetime.ts';
import { prepareRequest } from './request.ts';

export interface IssueOptions {
  client: Pick<Client, 'create' | 'list' | 'watch'>;
  subject: Subject;
  key: KeptKey;
  durationMs: number;
  clock: Clock;
  log: Log;
  random: () => number;
  /** Called when the request exists: from then on it is waited for, and no other one is made. */
  onRequested?: () => void;
}

const issueTimeoutMs = 15 * 60_000;
/** Length of one watch; after it the request is read again, whatever the stream may have lost. */
const watchSeconds = 300;
/** Requests a certificate and waits for it. What comes is checked: it must be for our subject and key, and valid now. */
export async function issueCertificate(options: IssueOptions, signal: AbortSignal): Promise<AgentCertificate> {
  const { client, clock, log, subject, key, durationMs } = options;
  const object = prepareRequest(subject, key.key, durationMs);
  const created = await client.create(requests, object, { signal });
  options.onRequested?.();
  const { name = '' } = created.metadata;
  log.info('Waiting for a certificate', { CertificateSigningRequest: name, user: subject.user });
  const limit = { clock, ms: issueTimeoutMs, error: () => notInTime(name), signal };
  const certificate = await withDeadline(limit, within => certificateOf(created, options, within));
  const issued = readCertificate(`${certificate}\n${key.pem.reveal()}`, labelOf(name));
  checkIssued(issued, options, name);
  return issued;
}

/** Failures on the way are waited out, a refused credential too: the request is there, and a second one would help nobody. */
async function certificateOf(
  created: CertificateSigningRequest,
  { client, clock, log, random }: IssueOptions,
  signal: AbortSignal,
): Promise<string> {
  for (let failures = 0; ; ) {
    try {
      const certificate = await watchedCertificate(created, client, signal);
      if (certificate !== undefined) return certificate;
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
      failures += 1;
      log.debug('Looking at a certificate request again', { error });
    }
    await clock.sleep(retryDelayMs(failures, random()), signal);
  }
}

/** Undefined when the server ended the watch. */
async function watchedCertificate(
  { metadata: { name = '', uid } }: CertificateSigningRequest,
  client: IssueOptions['client'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  const { items, metadata } = await client.list(requests, { fieldSelector, signal });
  const found = items.find(item => item.metadata.uid === uid);
  if (found === undefined) throw notIssued(name, 'was deleted');
  const certificate = verdictOn(found);
  if (certificate !== undefined) return certificate;
  const { resourceVersion } = metadata;
  const from = resourceVersion === undefined ? {} : { resourceVersion };
  const options = { fieldSelector, timeoutSeconds: watchSeconds, signal, ...from };
  for await (const { type, object } of client.watch(requests, options)) {
    if (type === 'BOOKMARK') continue;
    if (type === 'DELETED' || object.metadata.uid !== uid) throw notIssued(name, 'was deleted');
    const certificate = verdictOn(object);
    if (certificate !== undefined) return certificate;
  }
  return undefined;
}

/** The certificate, or undefined while there is neither that nor a refusal. */
function verdictOn({ metadata, status }: CertificateSigningRequest): string | undefined {
  for (const [type, verb] of [
    ['Denied', 'was denied'],
    ['Failed', 'cannot be signed'],
  ] as const) {
    const condition = findCondition(status?.conditions, type);
    if (condition !== undefined && condition.status !== 'False')
      throw notIssued(metadata.name, `${verb}: ${condition.reason ?? ''} ${condition.message ?? ''}`.trim());
  }
  if (!status?.certificate) return undefined;
  const text = textFromBase64(status.certificate);
  if (text === undefined) throw notIssued(metadata.name, 'holds a certificate that is no text');
  return text;
}

function checkIssued(issued: AgentCertificate, { subject, clock }: IssueOptions, name: string): void {
  const problem = subjectProblem(issued, subject);
  if (problem !== undefined) throw notIssued(name, `gave a certificate that ${problem}`);
  const nowMs = clock.now();
  const untimely = validityProblem(issued, nowMs);
  if (untimely === undefined) return;
  throw new AppError(
    'AGENT_CLOCK_WRONG',
    `${labelOf(name)} just gave a certificate that ${untimely}, and here it is ${timestamp(nowMs)}`,
    { remedy: 'Set the clock of this host right, or the lifetime that the signer of the cluster gives certificates.' },
  );
}

/** What no waiting makes better: a verdict, or that we may not look. */
function isFinal(error: unknown): boolean {
  if (error instanceof ApiError) return [400, 403].includes(error.code);
  return isAppError(error, 'AGENT_CERTIFICATE_NOT_ISSUED');
}

function notIssued(name: string | undefined, why: string): AppError {
  return new AppError('AGENT_CERTIFICATE_NOT_ISSUED', `${labelOf(name)} ${why}`, {
    remedy: 'Look at the events of that request, which say why; the agent asks again by itself.',
  });
}

function notInTime(name: string): AppError {
  return new AppError('AGENT_CERTIFICATE_NOT_ISSUED', `${labelOf(name)} was not signed within 15 minutes`, {
    remedy: 'Check that the operator runs and what its events say about that request; the agent asks again by itself.',
  });
}

function labelOf(name = ''): string {
  return `CertificateSigningRequest ${name}`;
}
