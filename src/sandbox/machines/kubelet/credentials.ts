import { X509Certificate } from 'node:crypto';
import { subjectOf } from '#base/certificate-read.ts';
import { identity, signer } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { findCondition } from '#base/condition.ts';
import { parseKubeconfig, resolveContext } from '#kube/config/kubeconfig.ts';
import { certificateSigningRequests as requests } from '#kube/resources.ts';
import { makeRequest, type ServingNames } from './certificate-request.ts';
import type { KubeletFlags } from './flags.ts';
import type { Running } from './kubelet-host.ts';
import type { KubeletSettings } from './settings.ts';

/** The request was denied or failed; retrying immediately would not help. */
export class RequestDenied extends Error {}

/** Renew after this part of the lifetime. */
const renewAt = 0.8;
const pollMs = 250;
const waitMs = 15 * 60_000;

/** Requests a client certificate with the bootstrap kubeconfig unless a valid one exists. */
export async function ensureIdentity(nodeName: string, running: Running): Promise<void> {
  const { flags, host, clock, log } = running;
  const current = await host.read(clientCertificatePath(flags));
  const hasKubeconfig = (await host.read(flags.kubeconfig)) !== undefined;
  if (hasKubeconfig && usedLife(current, nodeName, clock.now()) < 1) return;
  log.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file');
  const text = await host.read(flags.bootstrapKubeconfig);
  if (text === undefined)
    throw new Error(`unable to load bootstrap kubeconfig: ${flags.bootstrapKubeconfig} does not exist`);
  const client = await host.connect(flags.bootstrapKubeconfig);
  try {
    await renew(client, nodeName, running);
  } finally {
    await client.close();
  }
  await host.write(flags.kubeconfig, printKubeconfig(text, flags));
}

/** Renews the client certificate when due; bootstraps again if it has expired. */
export async function keepIdentity(
  client: Client,
  nodeName: string,
  settings: Pick<KubeletSettings, 'rotatesCertificates'>,
  running: Running,
): Promise<void> {
  const { flags, host, clock } = running;
  const used = usedLife(await host.read(clientCertificatePath(flags)), nodeName, clock.now());
  if (used >= 1) await ensureIdentity(nodeName, running);
  else if (used >= renewAt && settings.rotatesCertificates) await renew(client, nodeName, running);
}

/** Requests the serving certificate for node name and address. */
export async function ensureServingCertificate(client: Client, nodeName: string, running: Running): Promise<void> {
  const { flags, host, clock } = running;
  const path = inFolder(flags.certDir, 'kubelet-server-current.pem');
  if (usedLife(await host.read(path), nodeName, clock.now()) < renewAt) return;
  const names = { dnsName: nodeName, ipv4: flags.nodeIp };
  const wanted = { signerName: signer.kubeletServing, purpose: 'server auth', nodeName, names };
  await host.write(path, await requestCertificate(client, wanted, running));
}

/** Used part of a certificate's lifetime, 0 to 1; 1 or more if it has expired, is invalid or belongs to another node. */
export function usedLife(text: string | undefined, nodeName: string, nowMs: number): number {
  try {
    const certificate = new X509Certificate(text ?? '');
    const [name, ...more] = subjectOf(certificate)['CN'] ?? [];
    if (name !== `${identity.nodeUserPrefix}${nodeName}` || more.length > 0) return 1;
    const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
    return (nowMs - from) / (to - from);
  } catch {
    return 1;
  }
}

interface RequestedCertificate {
  signerName: string;
  purpose: string;
  nodeName: string;
  names?: ServingNames;
}

/** Creates a request and waits for its approval. Returns certificate and key in one PEM file. */
async function requestCertificate(client: Client, wanted: RequestedCertificate, running: Running): Promise<string> {
  const { signal, log } = running;
  const { request, key } = makeRequest(wanted.nodeName, wanted.names);
  const spec = {
    request: Buffer.from(request).toString('base64'),
    signerName: wanted.signerName,
    usages: ['digital signature', 'key encipherment', wanted.purpose],
  };
  const { metadata } = await client.create(requests, { metadata: { generateName: 'csr-' }, spec }, { signal });
  log.info('Waiting for a certificate', { csr: metadata.name, signer: wanted.signerName });
  return `${await awaitCertificate(client, metadata.name ?? '', running)}${key}`;
}

/** Tolerates an API server that is temporarily unreachable. */
async function awaitCertificate(client: Client, name: string, { clock, log, signal }: Running): Promise<string> {
  for (const endMs = clock.monotonicMs() + waitMs; clock.monotonicMs() < endMs; await clock.sleep(pollMs, signal)) {
    try {
      const { status } = await client.get(requests, name, { signal });
      const rejection = findCondition(status?.conditions, 'Denied') ?? findCondition(status?.conditions, 'Failed');
      if (rejection !== undefined) throw new RequestDenied(`${name} is ${rejection.type}: ${rejection.message}`);
      if (status?.certificate !== undefined) return Buffer.from(status.certificate, 'base64').toString();
    } catch (error) {
      if (signal.aborted || error instanceof RequestDenied) throw error;
      log.warn('Failed to read certificate request; retrying', { csr: name, error });
    }
  }
  throw new Error(`CSR ${name} was not approved in time`);
}

async function renew(client: Client, nodeName: string, running: Running): Promise<void> {
  const wanted = { signerName: signer.kubeletClient, purpose: 'client auth', nodeName };
  await running.host.write(clientCertificatePath(running.flags), await requestCertificate(client, wanted, running));
}

function clientCertificatePath({ certDir }: KubeletFlags): string {
  return inFolder(certDir, 'kubelet-client-current.pem');
}

/** Uses the path separator of the folder. */
function inFolder(folder: string, name: string): string {
  if (/[\\/]$/.test(folder)) return `${folder}${name}`;
  return `${folder}${folder.includes('\\') ? '\\' : '/'}${name}`;
}

function printKubeconfig(bootstrap: string, flags: KubeletFlags): string {
  const { cluster } = resolveContext(parseKubeconfig(bootstrap));
  const path = clientCertificatePath(flags);
  const ca =
    cluster.caData === undefined
      ? { 'certificate-authority': cluster.caFile }
      : { 'certificate-authority-data': Buffer.from(cluster.caData).toString('base64') };
  return `${JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'default-cluster', cluster: { server: cluster.server, ...ca, 'tls-server-name': cluster.tlsServerName } },
    ],
    users: [{ name: 'default-auth', user: { 'client-certificate': path, 'client-key': path } }],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', user: 'default-auth' } }],
    'current-context': 'default-context',
  })}\n`;
}
