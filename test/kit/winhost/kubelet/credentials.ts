import { dirname, join } from 'node:path';
import { signer } from '../../../../src/contract/names.ts';
import type { Client } from '../../../../src/kube/client.ts';
import { parseKubeconfig, resolveContext } from '../../../../src/kube/config/kubeconfig.ts';
import { loadKubeconfig } from '../../../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../../../src/kube/http-client.ts';
import { requestCertificate, usedLife } from './certificate.ts';
import type { KubeletFlags } from './flags.ts';
import type { Running } from './running.ts';
import type { KubeletSettings } from './settings.ts';

/** When a kubelet asks for the next certificate. */
const renewAt = 0.8;

/** Where the certificate and key for the API server are, in one file. */
export function clientCertificatePath({ certDir }: KubeletFlags): string {
  return join(certDir, 'kubelet-client-current.pem');
}

/** Makes sure that there is a client certificate, by the bootstrap kubeconfig where there is none that is still valid. */
export async function ensureIdentity(nodeName: string, running: Running): Promise<void> {
  const { flags, host, clock, log } = running;
  const current = await host.read(clientCertificatePath(flags));
  const hasKubeconfig = (await host.read(flags.kubeconfig)) !== undefined;
  if (hasKubeconfig && usedLife(current, nodeName, clock.now()) < 1) return;
  log.info('Using bootstrap kubeconfig to generate TLS client cert, key and kubeconfig file');
  const text = await host.read(flags.bootstrapKubeconfig);
  if (text === undefined)
    throw new Error(`unable to load bootstrap kubeconfig: ${flags.bootstrapKubeconfig} does not exist`);
  const client = createClient(loadKubeconfig(text, { folder: dirname(flags.bootstrapKubeconfig) }));
  try {
    await renew(client, nodeName, running);
  } finally {
    await client.close();
  }
  await host.write(flags.kubeconfig, printKubeconfig(text, flags));
}

/** A client with the kubelet's own certificate, which it reads again when it was renewed. */
export async function openClient({ flags, host }: Running): Promise<Client> {
  const text = (await host.read(flags.kubeconfig)) ?? '';
  return createClient(loadKubeconfig(text, { folder: dirname(flags.kubeconfig) }));
}

/** One look at whether the certificate should be renewed, with bootstrap when it is too late for that. */
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

/** The certificate others know the kubelet by: for its name and address. */
export async function ensureServingCertificate(client: Client, nodeName: string, running: Running): Promise<void> {
  const { flags, host, clock } = running;
  const path = join(flags.certDir, 'kubelet-server-current.pem');
  if (usedLife(await host.read(path), nodeName, clock.now()) < renewAt) return;
  const names = { dnsNames: [nodeName], ips: [flags.nodeIp.split('.').map(Number)] };
  const wanted = { signerName: signer.kubeletServing, purpose: 'server auth', nodeName, names } as const;
  await host.write(path, await requestCertificate(client, wanted, running));
}

async function renew(client: Client, nodeName: string, running: Running): Promise<void> {
  const wanted = { signerName: signer.kubeletClient, purpose: 'client auth', nodeName } as const;
  await running.host.write(clientCertificatePath(running.flags), await requestCertificate(client, wanted, running));
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
