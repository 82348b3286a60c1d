import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { HostFiles } from '../ports.ts';
import { type AgentCertificate, printCertificate, readCertificate, subjectProblem } from './certificate.ts';
import { isExpired } from './lifetime.ts';

const prefix = 'wicd-client';
/** Others only open this path. It is a file that is replaced as a whole; the Go agent had a symbolic link here. */
const currentName = `${prefix}-current.pem`;
/** What the Go agent leaves behind when it ends in the middle of a replacement. */
const updatedName = `${prefix}-updated.pem`;
const pairNames = [`${prefix}.crt`, `${prefix}.key`] as const;
const dated = /^wicd-client-\d{4}(-\d\d){5}\.pem$/i;
/** The Go agent never deleted any; the newest are enough to find the one that counts. */
const maxDatedRead = 8;

export interface StorePorts {
  files: Pick<HostFiles, 'read' | 'write' | 'remove' | 'list'>;
  clock: Clock;
  log: Log;
}

interface Found {
  name: string;
  certificate: AgentCertificate;
}

/** Certificates with their keys in a directory: the current one, and dated copies of it and of the one before. */
export class CertificateStore {
  readonly #directory: string;
  readonly #ports: StorePorts;

  constructor(directory: string, ports: StorePorts) {
    this.#directory = directory;
    this.#ports = ports;
  }

  /**
   * The certificate of this node that lives longest, wherever a crash left it; undefined when there is none or it has
   * expired. It becomes the current one, and what nobody needs any more is deleted.
   */
  async load(nodeName: string): Promise<AgentCertificate | undefined> {
    const { files, clock } = this.#ports;
    const names = await files.list(this.#directory);
    const found = (await this.#readAll(names))
      .filter(({ certificate }) => subjectProblem(certificate, nodeName) === undefined)
      .filter(({ certificate }) => !isExpired(certificate, clock.now()));
    const longest = Math.max(...found.map(({ certificate }) => certificate.notAfterMs));
    const best = found.find(({ certificate }) => certificate.notAfterMs === longest)?.certificate;
    if (best === undefined) return undefined;
    await this.#tryTo('replace the current certificate', currentName, async () => {
      await this.#makeCurrent(best);
      const text = printCertificate(best);
      const copy = found.find(({ name, certificate }) => dated.test(name) && printCertificate(certificate) === text);
      await this.#prune(names, copy?.name);
    });
    return best;
  }

  /** The dated copy comes first: from then on the certificate is found, whatever happens to the current file. */
  async save(certificate: AgentCertificate): Promise<void> {
    const { files, clock } = this.#ports;
    const name = `${prefix}-${new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')}.pem`;
    await files.write(this.#path(name), printCertificate(certificate), 'secret');
    await this.#makeCurrent(certificate);
    await this.#prune(await files.list(this.#directory), name);
  }

  /** Whether the current file holds this certificate. */
  async isIntact(certificate: AgentCertificate): Promise<boolean> {
    return (await this.#ports.files.read(this.#path(currentName))) === printCertificate(certificate);
  }

  async #readAll(names: readonly string[]): Promise<Found[]> {
    const newest = names.filter(name => dated.test(name)).toSorted();
    const found: Found[] = [];
    for (const name of [currentName, updatedName, ...newest.slice(-maxDatedRead).toReversed()]) {
      found.push(...(await this.#read(name, [name])));
    }
    return [...found, ...(await this.#read(pairNames[0], pairNames))];
  }

  async #read(name: string, parts: readonly string[]): Promise<Found[]> {
    const { files, log } = this.#ports;
    try {
      const texts = await Promise.all(parts.map(part => files.read(this.#path(part))));
      if (texts.includes(undefined)) return [];
      return [{ name, certificate: readCertificate(texts.join('\n'), this.#path(name)) }];
    } catch (error) {
      log.warn('Leaving out a certificate file that cannot be used', { file: this.#path(name), error });
      return [];
    }
  }

  /** Always written, since it may be a link, and what it leads to may be deleted one day. */
  async #makeCurrent(certificate: AgentCertificate): Promise<void> {
    await this.#ports.files.write(this.#path(currentName), printCertificate(certificate), 'secret');
  }

  /** Keys are not kept longer than they are needed: the copy of the current certificate stays, and the newest other one. */
  async #prune(names: readonly string[], keptName: string | undefined): Promise<void> {
    const others = names.filter(name => dated.test(name) && name !== keptName).toSorted();
    const leftovers = names.filter(name => [updatedName, ...pairNames].includes(name));
    for (const name of [...leftovers, ...others.slice(0, -1)]) {
      await this.#tryTo('delete an old certificate', name, () => this.#ports.files.remove(this.#path(name)));
    }
  }

  /** For what can be done again later. */
  async #tryTo(what: string, name: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#ports.log.warn('Cannot change a certificate file', { what, file: this.#path(name), error });
    }
  }

  #path(name: string): string {
    return `${this.#directory}\\${name}`;
  }
}
