import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Files } from '../ports.ts';
import { type AgentCertificate, printCertificate, readCertificate, subjectProblem } from './certificate.ts';
import type { KeptIdentity } from './kept-identity.ts';
import { findKey } from './key.ts';
import { isExpired, validityProblem } from './lifetime.ts';

export interface StorePorts {
  files: Pick<Files, 'read' | 'write'>;
  clock: Clock;
  log: Log;
}

/** The file of one certificate with its key, replaced atomically because other programs read it. */
export class CertificateStore {
  readonly #identity: KeptIdentity;
  readonly #ports: StorePorts;

  constructor(identity: KeptIdentity, ports: StorePorts) {
    this.#identity = identity;
    this.#ports = ports;
  }

  /** Undefined without a certificate for this subject and the current key that has not expired. */
  async load(): Promise<AgentCertificate | undefined> {
    const { certificateFile: path } = this.#identity;
    const { files, log } = this.#ports;
    const text = await files.read(path);
    if (text === undefined) return undefined;
    try {
      const certificate = readCertificate(text, path);
      const problem = await this.#problem(certificate);
      if (problem === undefined) return certificate;
      log.info('Ignoring stored certificate', { file: path, why: problem });
    } catch (error) {
      log.warn('Ignoring invalid certificate file', { file: path, error });
    }
    return undefined;
  }

  async save(certificate: AgentCertificate): Promise<void> {
    await this.#ports.files.write(this.#identity.certificateFile, printCertificate(certificate), 'secret');
  }

  /** True if the file contains this certificate. */
  async isIntact(certificate: AgentCertificate): Promise<boolean> {
    return (await this.#ports.files.read(this.#identity.certificateFile)) === printCertificate(certificate);
  }

  async #problem(certificate: AgentCertificate): Promise<string | undefined> {
    const { files, clock } = this.#ports;
    const key = await findKey(this.#identity.keyFile, files);
    if (key?.hash !== certificate.keyHash) return 'is not for the key of this host';
    if (isExpired(certificate, clock.now())) return validityProblem(certificate, clock.now());
    return subjectProblem(certificate, this.#identity);
  }
}
