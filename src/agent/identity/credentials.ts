import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { identity } from '#contract/names.ts';
import { isSame } from '#kube/config/identity.ts';
import type { Credential, Identity } from '#kube/transport/connection.ts';
import { factsOf, subjectProblem } from './certificate.ts';
import type { Subject } from './kept-identity.ts';
import { isExpired, validityProblem } from './lifetime.ts';

/** A source of credentials. */
export interface CredentialSource {
  name: string;
  /** Rejects with the reason when there is none. */
  current(signal: AbortSignal): Promise<Credential>;
  /** Reads it again after the server has rejected it; not set when that would not help. */
  refresh?(): Promise<unknown>;
}

export interface ChainOptions {
  clock: Clock;
  /** Skips certificates of agents of other nodes; not set when the node is unknown. */
  subject?: Subject | undefined;
  /** For the error when no credential works. */
  remedy: string;
}

/** Credentials in order of preference: the first one that is neither expired nor rejected is used. */
export class CredentialChain implements Identity {
  readonly #sources: readonly CredentialSource[];
  readonly #options: ChainOptions;
  #refused: Credential[] = [];
  #given: Credential | undefined;

  constructor(sources: readonly CredentialSource[], options: ChainOptions) {
    this.#sources = sources;
    this.#options = options;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    const problems: string[] = [];
    for (const source of this.#sources) {
      const credential = await source.current(signal).catch((error: unknown) => {
        signal.throwIfAborted();
        problems.push(error instanceof AppError ? error.message : `${source.name}: cannot be read`);
      });
      if (credential === undefined) continue;
      const problem = this.#problem(credential);
      if (problem === undefined) return (this.#given = credential);
      problems.push(`${source.name}: ${problem}`);
    }
    // No other credential is left, so rejected ones are tried again next time.
    this.#refused = [];
    throw new AppError('AGENT_UNIDENTIFIED', `no credential for the API server works: ${problems.join('; ')}`, {
      remedy: this.#options.remedy,
    });
  }

  /** Rejects with the problems of all sources when no other credential is left. */
  async renew(refused: Credential, signal: AbortSignal): Promise<boolean> {
    this.#refused.push(refused);
    await Promise.allSettled(this.#sources.map(async source => source.refresh?.()));
    await this.current(signal);
    return true;
  }

  /** Skips the last used credential, which was rejected; rejects when there is no other. */
  async refuseLast(signal: AbortSignal): Promise<void> {
    await this.renew(this.#given ?? {}, signal);
  }

  #problem(credential: Credential): string | undefined {
    const { authorization, clientCertificate } = credential;
    if (authorization === undefined && clientCertificate === undefined) return 'contains no credential';
    if (this.#refused.some(refused => isSame(refused, credential) && isSame(credential, refused)))
      return 'the API server rejects it';
    return clientCertificate && this.#certificateProblem(clientCertificate.certificate);
  }

  #certificateProblem(certificate: string): string | undefined {
    const { clock, subject } = this.#options;
    const facts = factsOf(certificate);
    // One that is not valid yet is used: only the clock of the server counts.
    if (isExpired(facts, clock.now())) return `the certificate ${validityProblem(facts, clock.now())}`;
    const isAgents = facts.commonName.startsWith(identity.agentUserPrefix);
    const problem = isAgents && subject !== undefined ? subjectProblem(facts, subject) : undefined;
    return problem && `the certificate ${problem}`;
  }
}
