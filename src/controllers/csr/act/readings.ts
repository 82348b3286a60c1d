import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { type IssuedIdentity, issuedIdentity } from '../certificate-ends.ts';
import { readCsr, subjectOf } from '../decide.ts';

/** What an undecided request says, or why it cannot be read, and whom it is about. */
export interface Reading {
  csr: ReturnType<typeof tryRead>;
  subject: ReturnType<typeof subjectOf>;
}

/** Every version of a request is read once, and forgotten with it: it is judged often, and reading it takes the longest. */
export class Readings {
  readonly #open = new WeakMap<CertificateSigningRequest, Reading>();
  readonly #issued = new WeakMap<CertificateSigningRequest, IssuedIdentity | 'nothing'>();

  read(request: CertificateSigningRequest): Reading {
    const known = this.#open.get(request);
    if (known !== undefined) return known;
    const csr = tryRead(request);
    const reading = { csr, subject: csr.ok ? subjectOf(csr.value) : undefined };
    this.#open.set(request, reading);
    return reading;
  }

  /** Undefined for one that was not read yet: it waits for its first pass anyway. */
  known(request: CertificateSigningRequest): Reading | undefined {
    return this.#open.get(request);
  }

  /** As known(), of the certificate that was issued. */
  knownIssued(request: CertificateSigningRequest): IssuedIdentity | undefined {
    const known = this.#issued.get(request);
    return known === 'nothing' ? undefined : known;
  }

  issued(request: CertificateSigningRequest): IssuedIdentity | undefined {
    const known = this.#issued.get(request) ?? issuedIdentity(request) ?? 'nothing';
    this.#issued.set(request, known);
    return known === 'nothing' ? undefined : known;
  }
}

function tryRead(request: CertificateSigningRequest) {
  return attempt(() => readCsr(readObject(request)));
}
