import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PolicyRule } from '../../../src/kube/resources.ts';
import type { Cluster } from './cluster.ts';

/** Flags of a kube-apiserver whose requests a test wants to see. */
export const auditFlags: readonly string[] = [
  `--audit-policy-file=${join(import.meta.dirname, 'audit-policy.yaml')}`,
  // In the folder of the cluster, where kube-apiserver runs, each line before the answer.
  '--audit-log-path=audit.log',
  '--audit-log-mode=blocking-strict',
];

/** A request as kube-apiserver has understood it. */
export interface AuditedRequest {
  verb: string;
  requestURI: string;
  user: { username: string };
  userAgent?: string;
  objectRef?: {
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
    apiGroup?: string;
  };
  responseStatus?: { code?: number };
  /** Of roles and bindings. */
  requestObject?: { metadata?: { name?: string }; rules?: PolicyRule[]; roleRef?: { kind: string; name: string } };
  annotations?: Record<string, string>;
}

/** All requests of a user so far. */
export function auditedRequests({ folder }: Cluster, username: string): AuditedRequest[] {
  return readFileSync(join(folder, 'audit.log'), 'utf8')
    .split('\n')
    .filter(line => line.includes(username))
    .flatMap(line => parsed(line))
    .filter(({ user }) => user.username === username);
}

/** The last line may be half written. */
function parsed(line: string): AuditedRequest[] {
  try {
    return [JSON.parse(line) as AuditedRequest];
  } catch {
    return [];
  }
}
