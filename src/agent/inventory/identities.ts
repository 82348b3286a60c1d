import type { InventoryIdentities, InventoryIdentity } from '#contract/inventory.ts';
import { file } from '#contract/paths.ts';
import { type CertificateFacts, factsOf } from '../identity/certificate.ts';
import { findKey } from '../identity/key.ts';
import type { Files } from '../ports.ts';

/** Hashes of the public keys and expiry of the certificates of the agent; undefined without any key. */
export async function findIdentities(files: Pick<Files, 'read'>): Promise<InventoryIdentities | undefined> {
  const agent = await findIdentity(file.agentKey, file.agentCertificate, files);
  const cloudNode = await findIdentity(file.cloudNodeKey, file.cloudNodeCertificate, files);
  if (agent === undefined && cloudNode === undefined) return undefined;
  return { ...(agent && { agent }), ...(cloudNode && { cloudNode }) };
}

async function findIdentity(
  keyFile: string,
  certificateFile: string,
  files: Pick<Files, 'read'>,
): Promise<InventoryIdentity | undefined> {
  const key = await findKey(keyFile, files);
  if (key === undefined) return undefined;
  const facts = readFacts((await files.read(certificateFile)) ?? '');
  // A certificate of another key is not used any more.
  if (facts?.keyHash !== key.hash) return { keyHash: key.hash };
  return { keyHash: key.hash, certificateEnds: new Date(facts.notAfterMs).toISOString() };
}

function readFacts(certificate: string): CertificateFacts | undefined {
  try {
    return factsOf(certificate);
  } catch {
    return undefined;
  }
}
