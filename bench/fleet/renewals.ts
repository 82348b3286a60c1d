import { setTimeout as delay } from 'node:timers/promises';
import { toBase64 } from '../../src/base/bytes.ts';
import { identity, signer } from '../../src/contract/names.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { makeCsr } from '../../test/kit/csr.ts';
import { type Impersonated, postAs } from '../../test/kit/impersonation.ts';
import { nodeAddress, nodeName } from './configured-nodes.ts';

export const renewalKinds = ['agent', 'kubelet-serving'] as const;
export type RenewalKind = (typeof renewalKinds)[number];

const requestPath = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

interface Renewal {
  user: Impersonated;
  spec: object;
}

/** Requests one certificate for each Node and round, evenly spread, as the program that renews it does. */
export async function requestRenewals(
  kubeconfig: string,
  kind: RenewalKind,
  { count, rounds, seconds }: { count: number; rounds: number; seconds: number },
): Promise<void> {
  const connection = loadKubeconfig(kubeconfig);
  const total = count * rounds;
  const startMs = performance.now();
  const open: Promise<PromiseSettledResult<unknown>[]>[] = [];
  for (let sent = 0; sent < total; sent += 1) {
    const waitMs = startMs + (sent / total) * seconds * 1000 - performance.now();
    if (waitMs > 0) await delay(waitMs);
    const { user, spec } = renewals[kind](sent % count);
    const metadata = { name: `${kind}-${sent}` };
    const request = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata, spec };
    open.push(Promise.allSettled([postAs(connection, user, requestPath, request)]));
  }
  const [failed] = (await Promise.all(open)).flat().filter(result => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

const renewals: Record<RenewalKind, (index: number) => Renewal> = {
  agent: index => {
    const name = `${identity.agentUserPrefix}${nodeName(index)}`;
    const request = makeCsr({ commonNames: [name], organizations: [identity.agentsGroup] });
    return {
      user: { user: name, groups: [identity.agentsGroup, identity.authenticatedGroup] },
      spec: {
        request: toBase64(request),
        signerName: signer.apiClient,
        usages: ['digital signature', 'client auth'],
        expirationSeconds: 86_400,
      },
    };
  },
  'kubelet-serving': index => {
    const name = `${identity.nodeUserPrefix}${nodeName(index)}`;
    const request = makeCsr({
      commonNames: [name],
      organizations: [identity.nodesGroup],
      dnsNames: [nodeName(index)],
      ips: [nodeAddress(index).split('.').map(Number)],
    });
    return {
      user: { user: name, groups: [identity.nodesGroup, identity.authenticatedGroup] },
      spec: {
        request: toBase64(request),
        signerName: signer.kubeletServing,
        usages: ['digital signature', 'key encipherment', 'server auth'],
      },
    };
  },
};
