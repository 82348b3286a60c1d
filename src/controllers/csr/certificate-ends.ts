import { textFromBase64 } from '#base/bytes.ts';
import { readIssued } from '#base/certificate-read.ts';
import { identity, signer } from '#contract/names.ts';
import type { InstanceIdentity } from '#contract/windows-instance/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';

/** A certificate that was issued to an agent or to cloud-node-manager. */
export interface IssuedIdentity {
  member: 'agent' | 'cloudNode';
  node: string;
  keyHash: string;
  endsMs: number;
}

const prefixes = [
  { member: 'agent', prefix: identity.agentUserPrefix },
  { member: 'cloudNode', prefix: identity.cloudNodeUserPrefix },
] as const;

/** Whether a certificate was issued whose end may have to be recorded. */
export function mayHaveEnd({ spec, status }: CertificateSigningRequest): boolean {
  return spec.signerName === signer.apiClient && Boolean(status?.certificate);
}

/** Reads the certificate issued for a request; undefined when there is none, or it is for another program. */
export function issuedIdentity(request: CertificateSigningRequest): IssuedIdentity | undefined {
  if (!mayHaveEnd(request)) return undefined;
  const certificate = readIssued(textFromBase64(request.status?.certificate ?? '') ?? '');
  const found = prefixes.find(({ prefix }) => certificate?.commonName.startsWith(prefix));
  if (certificate === undefined || found === undefined) return undefined;
  const { commonName, keyHash, notAfterMs: endsMs } = certificate;
  return { member: found.member, node: commonName.slice(found.prefix.length), keyHash, endsMs };
}

/** True if the certificate has the recorded key and ends later than recorded. */
export function isNewEnd(known: InstanceIdentity | undefined, { keyHash, endsMs }: IssuedIdentity): boolean {
  if (known?.keyHash !== keyHash) return false;
  return !(Date.parse(known.certificateEnds ?? '') >= Math.floor(endsMs / 1000) * 1000);
}
