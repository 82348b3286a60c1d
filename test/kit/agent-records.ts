import { systemClock, timestamp } from '../../src/base/clock.ts';
import { signer } from '../../src/contract/names.ts';
import type { NodeView } from '../../src/contract/node.ts';
import { readObject } from '../../src/contract/object.ts';
import { noReservations } from '../../src/contract/reserved.ts';
import { tokenIdOf } from '../../src/contract/token-id.ts';
import type { InstanceRecord, InstanceToken } from '../../src/contract/windows-instance/resource.ts';
import { type CsrDecision, decideCsr, readCsr, subjectOf } from '../../src/controllers/csr/decide.ts';
import { evidenceOf } from '../../src/controllers/csr/evidence.ts';
import type { CertificateSigningRequest } from '../../src/kube/resources.ts';
import { nodeOf } from './csr-facts.ts';

/** What `install` prints. */
export interface InstallAnswer {
  created: boolean;
  changed: boolean;
  started: boolean;
  keyHash: string;
  cloudKeyHash?: string;
}

/** What the operator would have recorded about hosts: their names, the tokens they were given, the hashes of their keys. */
export class AgentRecords {
  readonly #namespace: string;
  readonly #byNode = new Map<string, InstanceRecord>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  of(node: string): InstanceRecord {
    return this.#byNode.get(node) ?? {};
  }

  /** Of the host that joins under this name. */
  recordHost(node: string, addresses: string[] = []): void {
    this.#change(node, { host: { name: node, addresses } });
  }

  /** Before it is handed out. */
  recordToken(node: string, use: InstanceToken['use'], token: string, expires = ''): void {
    const id = tokenIdOf(token);
    const { tokens = [] } = this.of(node);
    if (id !== undefined) this.#change(node, { tokens: [...tokens, { id, use, expires }] });
  }

  recordKeys(node: string, { keyHash, cloudKeyHash }: Pick<InstallAnswer, 'keyHash' | 'cloudKeyHash'>): void {
    const installed = timestamp(systemClock.now());
    const cloudNode = cloudKeyHash === undefined ? {} : { cloudNode: { keyHash: cloudKeyHash, installed } };
    this.#change(node, { agent: { keyHash, installed }, ...cloudNode });
  }

  forget(node: string): void {
    this.#byNode.delete(node);
  }

  /** The operator's decision about a request, by these records and the Node. */
  decide(request: CertificateSigningRequest, node: NodeView | undefined): CsrDecision {
    const { credentialId, ...csr } = readCsr(
      readObject({ ...request, apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' }),
    );
    const name = this.nodeOf(request) ?? '';
    const status = this.#byNode.get(name);
    const object = { metadata: { name }, spec: { address: '', username: '' }, ...(status && { status }) };
    // Tests show a certificate where a host shows the token of an account; servers from 1.32 on write its id, too.
    const isToken = credentialId !== undefined && !credentialId.startsWith('X509SHA256=');
    return decideCsr({
      csr: { ...csr, ...(isToken && { credentialId }) },
      operatorNamespace: this.#namespace,
      instance: status && evidenceOf(object, ''),
      node,
      // Where the server writes them, they are compared.
      hasTokenIds: false,
      // Tests choose what their agents ask for.
      lifetime: { maxSeconds: Number.POSITIVE_INFINITY, isKept: false },
      reserved: noReservations,
      taken: {},
      ageMs: 0,
    });
  }

  /** Whether the request of an agent or of cloud-node-manager would be approved; undefined for any other request. */
  approves(request: CertificateSigningRequest): boolean | undefined {
    if (request.spec.signerName !== signer.apiClient) return undefined;
    const name = this.nodeOf(request) ?? '';
    return this.decide(request, nodeOf(name, '')).do === 'approve';
  }

  /** The Node that a request is about. */
  nodeOf(request: CertificateSigningRequest): string | undefined {
    return subjectOf(
      readCsr(readObject({ ...request, apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' })),
    )?.node;
  }

  #change(node: string, change: Partial<InstanceRecord>): void {
    // A host whose key is recorded has been read.
    this.#byNode.set(node, { host: { name: node, addresses: [] }, ...this.of(node), ...change });
  }
}
