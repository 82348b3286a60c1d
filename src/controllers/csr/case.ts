import type { AppError } from '#base/errors.ts';
import type { LifetimeLimit } from '#contract/certificate-lifetime.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import type { NodeView } from '#contract/node.ts';
import type { Reserved } from '#contract/reserved.ts';
import type { InstanceToken } from '#contract/windows-instance/resource.ts';

export type CertificateKind = 'kubelet-client' | 'kubelet-serving' | 'agent' | 'cloud-node';

/** The fields used of a CertificateSigningRequest. */
export interface CsrView {
  label: string;
  /** The PKCS#10 request, or why it cannot be read. */
  parsed: { ok: true; value: CertificateRequest } | { ok: false; error: AppError };
  usages: string[];
  signerName: string;
  username: string;
  groups: string[];
  /** Id of the requester's token, on servers that write it. */
  credentialId?: string;
  /** Requested lifetime; servers before 1.22 do not have it. */
  expirationSeconds?: number;
  /** Types of its conditions. */
  conditions: string[];
}

/** A host as the operator recorded it: evidence, unlike what a node reports about itself. */
export interface CsrInstance {
  label: string;
  /** The cluster approves kubelets of Machines. */
  isMachine: boolean;
  /** Node name in the record. */
  node: string;
  /** Addresses read over the pinned connection. */
  addresses: readonly string[];
  /** Names that an administrator added. */
  servingNames: readonly string[];
  tokens: readonly Pick<InstanceToken, 'id' | 'use'>[];
  agentKeyHash: string | undefined;
  cloudKeyHash: string | undefined;
  /** It runs an agent of the Go operator, whose key is not recorded. */
  hasFormerAgent: boolean;
}

/** One request with the Node it names, if that exists, and the host of that Node. */
export interface Case {
  csr: CsrView;
  request: CertificateRequest;
  nodeName: string;
  node: NodeView | undefined;
  instance: CsrInstance | undefined;
  operatorNamespace: string;
  /** Whether the server writes the id of a token on requests (Kubernetes 1.30). */
  hasTokenIds: boolean;
  lifetime: LifetimeLimit;
  reserved: Reserved;
  /** Requested names that belong to other hosts, with their owner. */
  taken: Readonly<Record<string, string>>;
}

/** A named check; `broken` returns what is wrong, undefined for a request that passes. */
export interface Rule<Given = Case> {
  name: string;
  broken: (given: Given) => string | undefined;
}
