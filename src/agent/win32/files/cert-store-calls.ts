import type { CallTable } from '../native.ts';

/** Certificates that the machine trusts. */
export const certStoreCalls = {
  CertOpenStore: {
    dll: 'crypt32.dll',
    prototype:
      'void *__stdcall CertOpenStore(uintptr_t provider, uint32_t encoding, uintptr_t cryptProvider, uint32_t flags, str16 name)',
    why: 'Opens LocalMachine\\ROOT',
    proof: 'wine',
  },
  CertEnumCertificatesInStore: {
    dll: 'crypt32.dll',
    prototype: 'void *__stdcall CertEnumCertificatesInStore(void *store, void *previous)',
    why: 'Lists the certificates; frees the one before',
    proof: 'wine',
  },
  CertAddEncodedCertificateToStore: {
    dll: 'crypt32.dll',
    prototype:
      'int __stdcall CertAddEncodedCertificateToStore(void *store, uint32_t encoding, void *der, uint32_t bytes, uint32_t disposition, void *context)',
    why: 'Adds a certificate',
    proof: 'wine',
  },
  CertDeleteCertificateFromStore: {
    dll: 'crypt32.dll',
    prototype: 'int __stdcall CertDeleteCertificateFromStore(void *context)',
    why: 'Removes a certificate that we have added; frees its context',
    proof: 'wine',
  },
  CertFreeCertificateContext: {
    dll: 'crypt32.dll',
    prototype: 'int __stdcall CertFreeCertificateContext(void *context)',
    why: 'Frees a certificate when the list is left early',
    proof: 'wine',
  },
  CertCloseStore: {
    dll: 'crypt32.dll',
    prototype: 'int __stdcall CertCloseStore(void *store, uint32_t flags)',
    why: 'Closes the store, which completes the changes, and tells when something was left open',
    proof: 'wine',
  },
} as const satisfies CallTable;
