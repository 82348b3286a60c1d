import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { type IssuedIdentity, issuedIdentity } from '../certificate-ends.ts';
import { readCsr, subjectOf } from '../decide.ts';

/** The content of a pending request, or why it cannot be read, and its subject. */
export interface Reading {
  csr: ReturnType<typeof tryRead>;
  subject: ReturnType<typeof subjectOf>;
}

/** Reads every version of a request once: it is judged often, and parsing takes the longest. */
export class Readings {
  readonly #open = new WeakMap<CertificateSigningRequest, Reading>();
  readonly #issued = new WeakMap<CertificateSigningRequest, IssuedIdentity | 'none'>();

  read(request: CertificateSigningRequest): Reading {
    const known = this.#open.get(request);
    if (known !== undefined) return known;
    const csr = tryRead(request);
    const reading = { csr, subject: csr.ok ? subjectOf(csr.value) : undefined };
    this.#open.set(request, reading);
    return reading;
  }

  /** Undefined for a request that was not read yet: its first pass is still to come. */
  known(request: CertificateSigningRequest): Reading | undefined {
    return this.#open.get(request);
  }

  /** Like known(), for the issued certificate. */
  knownIssued(request: CertificateSigningRequest): IssuedIdentity | undefined {
    const known = this.#issued.get(request);
    return known === 'none' ? undefined : known;
  }

  issued(request: CertificateSigningRequest): IssuedIdentity | undefined {
    const known = this.#issued.get(request) ?? issuedIdentity(request) ?? 'none';
    this.#issued.set(request, known);
    return known === 'none' ? undefined : known;
  }
}

function tryRead(request: CertificateSigningRequest) {
  return attempt(() => readCsr(readObject(request)));
}
