import { readCertificate } from '../../src/agent/identity/certificate.ts';
import type { AgentCertificate } from '../../src/agent/identity/certificate.ts';
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

/** The text of a file of the store, as the Go agent writes it too: certificate, then key. */
export function storedText(content: Partial<LeafContent> = {}): string {
  const { cert, key } = ca.issue({
    ...agentSubject(),
    notBefore: startMs - 5 * minuteMs,
    notAfter: startMs + hourMs,
    ...content,
  });
  return cert + key;
}

export function agentCertificate(content: Partial<LeafContent> = {}): AgentCertificate {
  return readCertificate(storedText(content), 'test');
}

/** Whether a text shows a private key. */
export const showsKey = (text: string): boolean => /PRIVATE KEY|MHcCAQEE|MIGHAgEA/.test(text);
