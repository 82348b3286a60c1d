import { createPublicKey } from 'node:crypto';
import { readCertificate } from '../../src/agent/identity/certificate.ts';
import type { AgentCertificate } from '../../src/agent/identity/certificate.ts';
import { createKey, type KeptKey } from '../../src/agent/identity/key.ts';
import { type LeafContent, TestCa } from './certificates.ts';

export const ca = new TestCa('agent-ca');
export const nodeName = 'win1';
/** When the tests take place. */
export const startMs = Date.UTC(2026, 2, 1, 12);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

export const agentSubject = (node = nodeName) => ({
  commonName: `system:wicd-node:${node}`,
  organizations: ['system:wicd-nodes'],
});

/** The key that the host keeps. */
export const agentKey = createKey();

/** The text of a file of the store: certificate, then key. */
export function storedText(content: Partial<LeafContent> = {}, key: KeptKey = agentKey): string {
  const leaf = { ...agentSubject(), notBefore: startMs - 5 * minuteMs, notAfter: startMs + hourMs, ...content };
  const spki = createPublicKey(key.key).export({ type: 'spki', format: 'der' });
  return ca.certify(leaf, spki) + key.pem.reveal();
}

export function agentCertificate(content: Partial<LeafContent> = {}): AgentCertificate {
  return readCertificate(storedText(content), 'test');
}

/** Whether a text shows a private key. */
export const showsKey = (text: string): boolean => /PRIVATE KEY|MHcCAQEE|MIGHAgEA/.test(text);
