import { createHash } from 'node:crypto';
import type { Component } from './components.ts';

export interface Product {
  name: string;
  version: string;
  license: string;
  /** Of the .exe. */
  sha256: string;
}

/** The SBOM of an .exe as CycloneDX 1.6. It has no date, so that it is reproducible. */
export function printSbom(product: Product, components: readonly Component[]): string {
  const document = describe(product, components);
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(document))}`;
  const { bomFormat, specVersion, ...rest } = document;
  return `${JSON.stringify({ bomFormat, specVersion, serialNumber, ...rest }, undefined, 2)}\n`;
}

function describe(product: Product, components: readonly Component[]) {
  const reference = `${product.name}@${product.version}`;
  const parts = components.flatMap(component => component.parts ?? []);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': reference,
        name: product.name,
        version: product.version,
        hashes: [{ alg: 'SHA-256', content: product.sha256 }],
        licenses: [{ license: { id: product.license } }],
      },
    },
    components: [...components, ...parts].map(entry),
    dependencies: [
      { ref: reference, dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl, parts: own = [] }) => ({ ref: purl, dependsOn: own.map(part => part.purl) })),
      ...parts.map(({ purl }) => ({ ref: purl, dependsOn: [] })),
    ],
  };
}

function entry({ name, version, purl, license, licenseText, sha512 }: Component) {
  // SPDX identifiers only; other licenses have a name.
  const known = license.startsWith('LicenseRef-') ? { name: license } : { id: license };
  const text = licenseText === undefined ? {} : { text: { contentType: 'text/plain', content: licenseText } };
  return {
    type: purl.startsWith('pkg:npm/node-win') ? 'platform' : 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(sha512 !== undefined && { hashes: [{ alg: 'SHA-512', content: sha512 }] }),
    licenses: [{ license: { ...known, ...text } }],
  };
}

/** A UUID of version 8 (custom bits): a hash. */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x80;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
