import { normalHostName } from '#base/dns-name.ts';
import { attempt } from '#base/errors.ts';
import { signer } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { type IssuedIdentity, issuedIdentity } from '../certificate-ends.ts';
import { readCsr, subjectOf } from '../decide.ts';
import { KeysByValue } from './keys-by-value.ts';

/** The content of a pending request, or why it cannot be read, and its subject. */
export interface Reading {
  csr: ReturnType<typeof tryRead>;
  subject: ReturnType<typeof subjectOf>;
}

/** Reads every version of a request once: it is judged often, and parsing takes the longest. */
export class Readings {
  readonly #open = new WeakMap<CertificateSigningRequest, Reading>();
  readonly #issued = new WeakMap<CertificateSigningRequest, IssuedIdentity | 'none'>();
  /** Pending requests by the names that their decision depends on. */
  readonly #openKeys = new KeysByValue();
  /** Requests with a certificate, by its Node. */
  readonly #issuedKeys = new KeysByValue();

  read(request: CertificateSigningRequest): Reading {
    const reading = this.#open.get(request) ?? readingOf(request);
    this.#open.set(request, reading);
    const uid = uidOf(request);
    if (!this.#openKeys.has(uid)) this.#openKeys.set(uid, keyOf(request), namesOf(request, reading));
    return reading;
  }

  issued(request: CertificateSigningRequest): IssuedIdentity | undefined {
    const known = this.#issued.get(request);
    if (known !== undefined) return known === 'none' ? undefined : known;
    const issued = issuedIdentity(request);
    this.#issued.set(request, issued ?? 'none');
    if (issued !== undefined) this.#issuedKeys.set(uidOf(request), keyOf(request), [issued.node]);
    return issued;
  }

  /**
   * Pending requests whose decision depends on one of these names, in lower case: their subject, or for serving requests any of
   * their names. Requests that were not read yet are missing: their first pass is still to come.
   */
  openFor(names: Iterable<string>): Iterable<Key> {
    return this.#openKeys.keysOf(names);
  }

  /** Requests whose certificates were issued to this Node and may have an end to record. */
  issuedFor(node: string): Iterable<Key> {
    return this.#issuedKeys.keysOf([node]);
  }

  /** The request is decided, or not judged for now. */
  close(uid: string): void {
    this.#openKeys.delete(uid);
  }

  /** The request is deleted. */
  forget(uid: string): void {
    this.#openKeys.delete(uid);
    this.#issuedKeys.delete(uid);
  }
}

function namesOf({ spec }: CertificateSigningRequest, { subject }: Reading): string[] {
  if (subject === undefined) return [];
  const names = spec.signerName === signer.kubeletServing ? subject.names : [];
  return [...new Set([subject.node, ...names].map(normalHostName))];
}

/** Requests have their uid from the server; only tests omit it. */
export function uidOf({ metadata }: CertificateSigningRequest): string {
  return metadata.uid ?? metadata.name ?? '';
}

function readingOf(request: CertificateSigningRequest): Reading {
  const csr = tryRead(request);
  return { csr, subject: csr.ok ? subjectOf(csr.value) : undefined };
}

function tryRead(request: CertificateSigningRequest) {
  return attempt(() => readCsr(readObject(request)));
}
