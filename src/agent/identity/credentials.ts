import type { Clock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { identity } from '#contract/names.ts';
import { isSame } from '#kube/config/identity.ts';
import type { Credential, Identity } from '#kube/transport/connection.ts';
import { factsOf, subjectProblem } from './certificate.ts';
import type { Subject } from './kept-identity.ts';
import { isExpired, validityProblem } from './lifetime.ts';

/** A place where a credential may be. */
export interface CredentialSource {
  /** For messages. */
  name: string;
  /** Rejects when there is none; the message says why. */
  current(signal: AbortSignal): Promise<Credential>;
  /** Looks again, after the server refused what the source gave. */
  refresh(): Promise<unknown>;
}

export interface ChainOptions {
  clock: Clock;
  /** Certificates of the agents of other nodes are left out; not set where the node is not known. */
  subject?: Subject | undefined;
  /** What to do when no source has anything that works. */
  remedy: string;
}

/** Several credentials in the order of preference: the first one that has not expired and was not refused is used. */
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
    // What was refused may be accepted another time; nothing else is left to be tried.
    this.#refused = [];
    throw new AppError('AGENT_UNIDENTIFIED', `no credential for the API server works: ${problems.join('; ')}`, {
      remedy: this.#options.remedy,
    });
  }

  /** Rejects with the whole story when there is nothing else to be tried, which tells more than a refusal. */
  async renew(refused: Credential, signal: AbortSignal): Promise<boolean> {
    this.#refused.push(refused);
    await Promise.allSettled(this.#sources.map(source => source.refresh()));
    await this.current(signal);
    return true;
  }

  /** The one that was given last was refused, and another is to be used next; rejects when there is none. */
  async refuseLast(signal: AbortSignal): Promise<void> {
    await this.renew(this.#given ?? {}, signal);
  }

  #problem(credential: Credential): string | undefined {
    const { authorization, clientCertificate } = credential;
    if (authorization === undefined && clientCertificate === undefined) return 'holds no credential';
    if (this.#refused.some(refused => isSame(refused, credential) && isSame(credential, refused)))
      return 'the API server refuses it';
    return clientCertificate && this.#certificateProblem(clientCertificate.certificate);
  }

  #certificateProblem(certificate: string): string | undefined {
    const { clock, subject } = this.#options;
    const facts = factsOf(certificate);
    // One that is not valid yet is tried: the clock that counts is that of the server.
    if (isExpired(facts, clock.now())) return `the certificate ${validityProblem(facts, clock.now())}`;
    const isAgents = facts.commonName.startsWith(identity.agentUserPrefix);
    const problem = isAgents && subject !== undefined ? subjectProblem(facts, subject) : undefined;
    return problem && `the certificate ${problem}`;
  }
}
