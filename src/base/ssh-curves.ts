export interface Curve {
  oid: string;
  jwk: string;
  openssl: string;
  ssh: string;
  /** Of a coordinate, in octets. */
  size: number;
  /** Hash of its SSH signatures. */
  digest: string;
}

/** The elliptic curves of SSH. */
export const curves: readonly Curve[] = [
  { oid: '1.2.840.10045.3.1.7', jwk: 'P-256', openssl: 'prime256v1', ssh: 'nistp256', size: 32, digest: 'sha256' },
  { oid: '1.3.132.0.34', jwk: 'P-384', openssl: 'secp384r1', ssh: 'nistp384', size: 48, digest: 'sha384' },
  { oid: '1.3.132.0.35', jwk: 'P-521', openssl: 'secp521r1', ssh: 'nistp521', size: 66, digest: 'sha512' },
];
