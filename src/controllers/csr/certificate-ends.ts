import { textFromBase64 } from '#base/bytes.ts';
import { readIssued } from '#base/certificate-read.ts';
import { timestamp } from '#base/clock.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { identity, signer } from '#contract/names.ts';
import type { InstanceIdentity } from '#contract/windows-instance/resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { keyOf } from '#kube/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';

/** What was issued for an agent or for cloud-node-manager. */
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

/** Reads the certificate that a request was given; undefined when there is none, or it is for something else. */
export function issuedIdentity({ spec, status }: CertificateSigningRequest): IssuedIdentity | undefined {
  if (spec.signerName !== signer.apiClient || !status?.certificate) return undefined;
  const certificate = readIssued(textFromBase64(status.certificate) ?? '');
  const found = prefixes.find(({ prefix }) => certificate?.commonName.startsWith(prefix));
  if (certificate === undefined || found === undefined) return undefined;
  const { commonName, keyHash, notAfterMs: endsMs } = certificate;
  return { member: found.member, node: commonName.slice(found.prefix.length), keyHash, endsMs };
}

/** Whether the record does not know of the certificate yet. */
export function isNews(known: InstanceIdentity | undefined, { keyHash, endsMs }: IssuedIdentity): boolean {
  if (known?.keyHash !== keyHash) return false;
  return !(Date.parse(known.certificateEnds ?? '') >= Math.floor(endsMs / 1000) * 1000);
}

/** Records until when the agent can identify itself: after that it has to be reconnected. */
export async function recordEnd(
  instance: WindowsInstance,
  issued: IssuedIdentity,
  client: Pick<Client, 'get' | 'patch'>,
  signal: AbortSignal,
): Promise<void> {
  const change = (current: WindowsInstance): WindowsInstance => {
    const known = current.status?.[issued.member];
    if (current.metadata.uid !== instance.metadata.uid || known === undefined || !isNews(known, issued)) return current;
    const next = { ...known, certificateEnds: timestamp(issued.endsMs) };
    return { ...current, status: { ...current.status, [issued.member]: next } };
  };
  const task = { key: keyOf(instance), change };
  await changeObject(client, windowsInstances, task, { signal, attempts: 10 }).catch(unless(isNotFound));
}
