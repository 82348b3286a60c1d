import { generateKeyPairSync, sign } from 'node:crypto';
import { certificateExtension, distinguishedName } from '#base/certificate-write.ts';
import { bitString, element, integer, oid, sequence, set } from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { identity } from '#contract/names.ts';

export interface NewRequest {
  /** PKCS #10 in PEM form. */
  request: string;
  /** SEC 1 in PEM form. */
  key: string;
}

/** Names of a serving certificate. */
export interface ServingNames {
  dnsName: string;
  ipv4: string;
}

/** A certificate request of a node with a new key. */
export function makeRequest(nodeName: string, names?: ServingNames): NewRequest {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const info = sequence(
    integer([0]),
    distinguishedName({
      commonName: `${identity.nodeUserPrefix}${nodeName}`,
      organizations: [identity.nodesGroup],
    }),
    publicKey.export({ type: 'spki', format: 'der' }),
    names === undefined ? element(0xa0) : element(0xa0, extensionRequest(names)),
  );
  const signature = bitString(sign('sha256', info, privateKey));
  const request = sequence(info, sequence(oid('1.2.840.10045.4.3.2')), signature);
  return {
    request: printPem('CERTIFICATE REQUEST', request),
    key: privateKey.export({ type: 'sec1', format: 'pem' }),
  };
}

function extensionRequest({ dnsName, ipv4 }: ServingNames): Uint8Array {
  const names = sequence(element(0x82, Buffer.from(dnsName)), element(0x87, ipv4.split('.').map(Number)));
  return sequence(oid('1.2.840.113549.1.9.14'), set(sequence(certificateExtension('2.5.29.17', names))));
}
