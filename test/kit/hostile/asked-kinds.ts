import { signer } from '../../../src/contract/names.ts';
import type { CertificateKind } from '../../../src/controllers/csr/case.ts';
import type { CsrContent } from '../csr.ts';

/** What an honest program asks for, and what its thief would like to have from the same signer. */
export interface AskedKind {
  kind: CertificateKind;
  signerName: string;
  usages: readonly string[];
  good: CsrContent;
  evil: CsrContent & { commonNames: readonly [string] };
}

const forClients = ['digital signature', 'key encipherment', 'client auth'];
const node = { organizations: ['system:nodes'], commonNames: ['system:node:win1'] };

export const askedKinds: readonly AskedKind[] = [
  {
    kind: 'kubelet-client',
    signerName: signer.kubeletClient,
    usages: forClients,
    good: node,
    evil: { organizations: ['system:nodes'], commonNames: ['system:node:control-plane-1'] },
  },
  {
    kind: 'kubelet-serving',
    signerName: signer.kubeletServing,
    usages: ['digital signature', 'key encipherment', 'server auth'],
    good: { ...node, dnsNames: ['win1'], ips: [[10, 0, 0, 1]] },
    evil: { ...node, commonNames: ['system:node:control-plane-1'], dnsNames: ['kubernetes.default.svc'] },
  },
  {
    kind: 'agent',
    signerName: signer.apiClient,
    usages: forClients,
    good: { organizations: ['system:wicd-nodes'], commonNames: ['system:wicd-node:win1'] },
    evil: { organizations: ['system:wicd-nodes'], commonNames: ['system:kube-controller-manager'] },
  },
];
