/** Bits of the key usage extension by their names in the certificates API. */
const usageBits: Readonly<Record<string, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

/** OIDs of the extended key usage extension, in the order in which signers write them. */
const extendedUsages: readonly (readonly [name: string, oid: string])[] = [
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
];

/** The names that a certificate request may use, sorted. */
export const knownUsages: readonly string[] = [
  ...Object.keys(usageBits),
  ...extendedUsages.map(([name]) => name),
].sort();

export interface KeyUsages {
  bits: readonly number[];
  extendedOids: readonly string[];
  /** Unknown names; a signer rejects them. */
  unknown: readonly string[];
}

export function readKeyUsages(names: readonly string[]): KeyUsages {
  const extended = extendedUsages.filter(([name]) => names.includes(name)).map(([, oid]) => oid);
  return {
    bits: names.filter(name => Object.hasOwn(usageBits, name)).map(name => usageBits[name] ?? 0),
    extendedOids: [...new Set(extended)],
    unknown: names.filter(name => !knownUsages.includes(name)),
  };
}
