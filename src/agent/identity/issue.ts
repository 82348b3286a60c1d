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
  /** Called when the request was created; no other one is created while it is pending. */
  onRequested?: () => void;
}

const issueTimeoutMs = 15 * 60_000;
/** Length of one watch; then the request is read again, in case the stream has lost an event. */
const watchSeconds = 300;

const checkSigner =
  'Check status.certificate of the request and the signer of the cluster (`kubectl get csr -o yaml`).';

/** Requests a certificate, waits for it and checks that it is for this subject and key, and valid now. */
export async function issueCertificate(options: IssueOptions, signal: AbortSignal): Promise<AgentCertificate> {
  const { client, clock, log, subject, key, durationMs } = options;
  const object = prepareRequest(subject, key.key, durationMs);
  const created = await client.create(requests, object, { signal });
  options.onRequested?.();
  const { name = '' } = created.metadata;
  log.info('Waiting for certificate', { CertificateSigningRequest: name, user: subject.user });
  const limit = { clock, ms: issueTimeoutMs, error: () => notInTime(name), signal };
  const certificate = await withDeadline(limit, within => certificateOf(created, options, within));
  const issued = readCertificate(`${certificate}\n${key.pem.reveal()}`, labelOf(name), checkSigner);
  checkIssued(issued, options, name);
  return issued;
}

/** Retries failures, rejected credentials included: the request exists, and a second one would not help. */
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
      log.debug('Watching certificate request failed; retrying', { error });
    }
    await clock.sleep(retryDelayMs(failures, random()), signal);
  }
}

/** Undefined when the watch has ended. */
async function watchedCertificate(
  { metadata: { name = '', uid } }: CertificateSigningRequest,
  client: IssueOptions['client'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  const { items, metadata } = await client.list(requests, { fieldSelector, signal });
  const found = items.find(item => item.metadata.uid === uid);
  if (found === undefined) throw notIssued(name, 'was deleted');
  const certificate = certificateIn(found);
  if (certificate !== undefined) return certificate;
  const { resourceVersion } = metadata;
  const from = resourceVersion === undefined ? {} : { resourceVersion };
  const options = { fieldSelector, timeoutSeconds: watchSeconds, signal, ...from };
  for await (const { type, object } of client.watch(requests, options)) {
    if (type === 'BOOKMARK') continue;
    if (type === 'DELETED' || object.metadata.uid !== uid) throw notIssued(name, 'was deleted');
    const certificate = certificateIn(object);
    if (certificate !== undefined) return certificate;
  }
  return undefined;
}

/** The certificate; undefined while pending. Throws when denied or failed. */
function certificateIn({ metadata, status }: CertificateSigningRequest): string | undefined {
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
  if (text === undefined) throw notIssued(metadata.name, 'has a certificate that is not text');
  return text;
}

function checkIssued(issued: AgentCertificate, { subject, clock }: IssueOptions, name: string): void {
  const problem = subjectProblem(issued, subject);
  if (problem !== undefined) throw notIssued(name, `returned a certificate that ${problem}`);
  const nowMs = clock.now();
  const untimely = validityProblem(issued, nowMs);
  if (untimely === undefined) return;
  throw new AppError(
    'AGENT_CLOCK_WRONG',
    `${labelOf(name)} returned a certificate that ${untimely}, but the clock of the host shows ${timestamp(nowMs)}`,
    { remedy: 'Fix the clock of the host (w32tm.exe /resync), or the certificate lifetime of the signer.' },
  );
}

/** Errors that a retry cannot fix: a decision, or permission denied. */
function isFinal(error: unknown): boolean {
  if (error instanceof ApiError) return [400, 403].includes(error.code);
  return isAppError(error, 'AGENT_CERTIFICATE_NOT_ISSUED');
}

function notIssued(name: string | undefined, why: string): AppError {
  return new AppError('AGENT_CERTIFICATE_NOT_ISSUED', `${labelOf(name)} ${why}`, {
    remedy: `Run \`kubectl describe csr${name === undefined ? '' : ` ${name}`}\` and check its events; the agent requests another one.`,
  });
}

function notInTime(name: string): AppError {
  return new AppError('AGENT_CERTIFICATE_NOT_ISSUED', `${labelOf(name)} was not signed within 15 minutes`, {
    remedy: `Check that the operator runs, and run \`kubectl describe csr ${name}\`; the agent requests another one.`,
  });
}

function labelOf(name = ''): string {
  return `CertificateSigningRequest ${name}`;
}
