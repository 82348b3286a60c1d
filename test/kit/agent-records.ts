import { textFromBase64 } from '../../src/base/bytes.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import { agentServiceAccountUser, identity, signer } from '../../src/contract/names.ts';
import { credentialIdKey, tokenIdOf } from '../../src/contract/token-id.ts';
import type { InstanceRecord, InstanceToken } from '../../src/contract/windows-instance/resource.ts';
import type { CertificateSigningRequest } from '../../src/kube/resources.ts';

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
    const cloudNode = cloudKeyHash === undefined ? {} : { cloudNode: { keyHash: cloudKeyHash } };
    this.#change(node, { agent: { keyHash }, ...cloudNode });
  }

  forget(node: string): void {
    this.#byNode.delete(node);
  }

  /** For an agent or cloud-node-manager, by the evidence that the operator goes by; undefined for any other request. */
  approves({ spec }: CertificateSigningRequest): boolean | undefined {
    const parsed = parseCertificateRequest(textFromBase64(spec.request) ?? '');
    const kinds = [
      { prefix: identity.agentUserPrefix, group: identity.agentsGroup, key: 'agent' },
      { prefix: identity.cloudNodeUserPrefix, group: identity.cloudNodesGroup, key: 'cloudNode' },
    ] as const;
    const kind = kinds.find(({ prefix }) => parsed.commonName.startsWith(prefix));
    if (kind === undefined) return undefined;
    const node = parsed.commonName.slice(kind.prefix.length);
    const record = this.of(node);
    const account = agentServiceAccountUser(this.#namespace);
    const { extra } = spec as { extra?: Record<string, string[]> };
    const [credentialId] = extra?.[credentialIdKey] ?? [];
    const tokenIds = record.tokens?.filter(({ use }) => use === 'agent').map(({ id }) => id) ?? [];
    const isOwnToken = spec.username === account && (credentialId === undefined || tokenIds.includes(credentialId));
    return (
      spec.signerName === signer.apiClient &&
      parsed.organizations.join() === kind.group &&
      (isOwnToken || spec.username === `${identity.agentUserPrefix}${node}`) &&
      record[kind.key]?.keyHash === sha256(parsed.subjectPublicKeyInfo)
    );
  }

  #change(node: string, change: Partial<InstanceRecord>): void {
    this.#byNode.set(node, { ...this.of(node), ...change });
  }
}
