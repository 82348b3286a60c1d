import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentName } from '../../../src/contract/names.ts';

/** A request of an agent as the API server saw it. */
export interface SeenRequest {
  verb: string;
  uri: string;
  /** '' when the server did not accept the credential. */
  user: string;
  code: number;
}

interface AuditEvent {
  stage: string;
  verb: string;
  requestURI: string;
  userAgent?: string;
  user?: { username?: string };
  responseStatus?: { code?: number };
}

/** Everybody but the administrator and the nodes, those too whom the server does not know. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'None', users: ['admin', 'system:apiserver'] }, { level: 'Metadata' }],
};

/** Written by kube-apiserver: requests of agents, and the answers. */
export class AuditLog implements AsyncDisposable {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<AuditLog> {
    const log = new AuditLog(await mkdtemp(join(tmpdir(), 'wmco-audit-')));
    await writeFile(join(log.#folder, 'policy.json'), JSON.stringify(policy));
    return log;
  }

  /** For kube-apiserver. */
  get flags(): string[] {
    return [`--audit-policy-file=${this.#folder}/policy.json`, `--audit-log-path=${this.#path}`];
  }

  /** Requests of agents, in the order in which they came to their end. */
  requests(): SeenRequest[] {
    const lines = existsSync(this.#path) ? readFileSync(this.#path, 'utf8').split('\n').slice(0, -1) : [];
    return lines.flatMap(line => {
      const event = JSON.parse(line) as AuditEvent;
      const { stage, verb, requestURI: uri, userAgent, user: { username: user = '' } = {}, responseStatus } = event;
      // Requests of unknown users have no end in the log.
      if (!userAgent?.startsWith(`${agentName}/`) || (stage !== 'ResponseComplete' && user !== '')) return [];
      return [{ verb, uri, user, code: responseStatus?.code ?? 0 }];
    });
  }

  /** Those that were refused. A server of 1.20 does not know how to send a list as a watch, which is asked for first. */
  refused(): SeenRequest[] {
    return this.requests().filter(
      ({ code, uri }) => code >= 400 && !(code === 422 && uri.includes('sendInitialEvents=true')),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true });
  }

  get #path(): string {
    return join(this.#folder, 'audit.log');
  }
}
