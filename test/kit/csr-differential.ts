import { isDeepStrictEqual } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { toBase64 } from '../../src/base/bytes.ts';
import { attempt } from '../../src/base/errors.ts';
import type { CertificateRequest } from '../../src/contract/csr-request.ts';
import { signer } from '../../src/contract/names.ts';
import { readObject } from '../../src/contract/object.ts';
import { readCsr } from '../../src/controllers/csr/decide.ts';
import type { CertificateKind } from '../../src/controllers/csr/case.ts';
import { checkCertificateContent } from '../../src/controllers/csr/rules.ts';
import type { Client } from '../../src/kube/client.ts';
import { isApiError } from '../../src/kube/api-error.ts';
import { type CertificateSigningRequest, certificateSigningRequests } from '../../src/kube/resources.ts';
import type { HostileRequest } from './hostile-requests.ts';
import { decidedContent, issuedContent } from './issued-certificate.ts';

/** One request, what we make of it, and what the server has issued for it once an administrator approved it. */
export interface Judged {
  request: HostileRequest;
  decision: Decision;
  /** In PEM form; undefined when the signer gave none. */
  certificate?: string | undefined;
}

type Decision = { do: 'approve'; request: CertificateRequest } | { do: 'refuse'; why: string };

export interface Comparison {
  /** Requests that the server has refused to store. */
  unstored: HostileRequest[];
  judged: Judged[];
  /** What was issued in another way than it was decided on. There should be none. */
  differences: string[];
}

const atOnce = 24;
const [pollMs, patienceMs] = [250, 90_000];

/**
 * Has the server store each request, decides about what it stored, approves as administrator, lets the controller manager sign, and
 * compares. Refused ones are approved too if `approveRefused`, to see what would have been issued; the wait for those is limited.
 */
export async function compareReadings(
  admin: Client,
  all: readonly HostileRequest[],
  approveRefused: (request: HostileRequest) => boolean,
): Promise<Comparison> {
  const unstored: HostileRequest[] = [];
  const judged = new Map<string, Judged>();
  await inParallel(all, async request => {
    const stored = await store(admin, request);
    if (stored === undefined) {
      unstored.push(request);
      return;
    }
    const decision = decide(stored);
    judged.set(stored.metadata.name ?? '', { request, decision });
    if (decision.do === 'approve' || approveRefused(request)) await approve(admin, stored);
  });
  await collect(admin, judged);
  const list = [...judged.values()];
  return { unstored, judged: list, differences: list.flatMap(differenceOf) };
}

async function store(
  admin: Client,
  request: HostileRequest,
  attempts = 5,
): Promise<CertificateSigningRequest | undefined> {
  const { signerName, usages, bytes } = request;
  try {
    return await admin.create(certificateSigningRequests, {
      metadata: { generateName: 'hostile-' },
      spec: { signerName, usages: [...usages], request: toBase64(bytes) },
    });
  } catch (error) {
    if (isApiError(error) && [400, 403, 422].includes(error.code)) return undefined;
    // The server has generated a name that exists.
    if (isApiError(error, 'ServerTimeout') && attempts > 1) return store(admin, request, attempts - 1);
    throw new Error(`${request.name}: the server failed`, { cause: error });
  }
}

const kinds: Readonly<Record<string, CertificateKind>> = {
  [signer.kubeletClient]: 'kubelet-client',
  [signer.kubeletServing]: 'kubelet-serving',
  [signer.apiClient]: 'agent',
};

/** The decision about the content alone, on the object that the server has given back. */
function decide(stored: CertificateSigningRequest): Decision {
  const kind = kinds[stored.spec.signerName];
  if (kind === undefined) return { do: 'refuse', why: 'not a signer of this operator' };
  const read = attempt(() => {
    const { parsed, label } = readCsr(
      readObject({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', ...stored }),
    );
    if (!parsed.ok) throw parsed.error;
    checkCertificateContent(kind, parsed.value, label);
    return parsed.value;
  });
  return read.ok ? { do: 'approve', request: read.value } : { do: 'refuse', why: read.error.message };
}

async function approve(admin: Client, request: CertificateSigningRequest): Promise<void> {
  const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'to see what is issued' };
  const approved = { ...request, status: { conditions: [condition] } };
  await admin.replace(certificateSigningRequests, approved, { subresource: 'approval' });
}

/** Waits until every request that we would approve is answered, by a certificate or a failure, and so is every known attack. */
async function collect(admin: Client, judged: ReadonlyMap<string, Judged>): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const { items } = await admin.list(certificateSigningRequests);
    const open = items.filter(item => {
      const known = judged.get(item.metadata.name ?? '');
      if (known === undefined) return false;
      const { certificate = '', conditions = [] } = item.status ?? {};
      known.certificate = certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString();
      const isAnswered = certificate !== '' || conditions.some(({ type }) => type === 'Failed');
      return !isAnswered && (known.decision.do === 'approve' || known.request.evil !== undefined);
    });
    if (open.length === 0) return;
    const names = open.map(({ metadata }) => judged.get(metadata.name ?? '')?.request.name);
    if (performance.now() > until) throw new Error(`these were never answered: ${names.join('; ')}`);
    await delay(pollMs);
  }
}

function differenceOf({ request, decision, certificate }: Judged): string[] {
  if (decision.do === 'refuse' || certificate === undefined) return [];
  const [decided, issued] = [decidedContent(decision.request, request.usages), issuedContent(certificate)];
  return isDeepStrictEqual(decided, issued)
    ? []
    : [`${request.name}: decided ${JSON.stringify(decided)}, issued ${JSON.stringify(issued)}`];
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}
