import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { identity } from '../../../../src/contract/names.ts';
import type { Client } from '../../../../src/kube/client.ts';
import { findCondition } from '../../../../src/kube/conditions.ts';
import { certificateSigningRequests as requests } from '../../../../src/kube/resources.ts';
import { type CsrContent, makeCsr } from '../../csr.ts';
import type { Running } from './running.ts';

export interface Wanted {
  signerName: string;
  purpose: 'client auth' | 'server auth';
  nodeName: string;
  names?: Pick<CsrContent, 'dnsNames' | 'ips'>;
}

/** Somebody has decided, so that asking again at once is of no use. */
export class RequestRefused extends Error {}

const pollMs = 500;
const waitMs = 15 * 60_000;

/** Asks for a certificate and waits until somebody has approved it. Gives certificate and key in one text. */
export async function requestCertificate(client: Client, wanted: Wanted, running: Running): Promise<string> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' });
  const content = {
    commonNames: [`${identity.nodeUserPrefix}${wanted.nodeName}`],
    organizations: [identity.nodesGroup],
    ...wanted.names,
  };
  const request = makeCsr(content, { privateKey: pair.privateKey, publicKey });
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName: wanted.signerName,
    usages: ['digital signature', 'key encipherment', wanted.purpose],
  };
  const { signal, log } = running;
  const { metadata } = await client.create(requests, { metadata: { generateName: 'csr-' }, spec }, { signal });
  log.info('Waiting for a certificate', { csr: metadata.name, signer: wanted.signerName });
  const certificate = await issued(client, metadata.name ?? '', running);
  return `${certificate}${pair.privateKey.export({ type: 'sec1', format: 'pem' })}`;
}

/** A server that is away for a while does not matter: the request is there. */
async function issued(client: Client, name: string, { clock, log, signal }: Running): Promise<string> {
  for (const endMs = clock.monotonicMs() + waitMs; clock.monotonicMs() < endMs; await clock.sleep(pollMs, signal)) {
    try {
      const { status } = await client.get(requests, name, { signal });
      const refusal = findCondition(status?.conditions, 'Denied') ?? findCondition(status?.conditions, 'Failed');
      if (refusal !== undefined) throw new RequestRefused(`${name} is ${refusal.type}: ${refusal.message}`);
      if (status?.certificate !== undefined) return Buffer.from(status.certificate, 'base64').toString();
    } catch (error) {
      if (signal.aborted || error instanceof RequestRefused) throw error;
      log.warn('Cannot look at a certificate request', { csr: name, error });
    }
  }
  throw new Error(`certificate signing request ${name} was not approved in time`);
}

/** Part of the life of a certificate that has gone by, 0 to 1; 1 or more when it has expired, cannot be read or is of another node. */
export function usedLife(text: string | undefined, nodeName: string, nowMs: number): number {
  try {
    const certificate = new X509Certificate(text ?? '');
    const { CN } = certificate.toLegacyObject().subject;
    if (CN !== `${identity.nodeUserPrefix}${nodeName}`) return 1;
    const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
    return (nowMs - from) / (to - from);
  } catch {
    return 1;
  }
}
