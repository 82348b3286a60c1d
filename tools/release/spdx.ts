import { createHash } from 'node:crypto';
import type { Component } from '../build-agent/components.ts';
import type { Build } from './build.ts';

/** A file of the image that is not part of the executable. */
export interface SystemLibrary {
  name: string;
  license: string;
  sha256: string;
}

export interface Described {
  build: Build;
  /** Of the executable. */
  sha256: string;
  components: readonly Component[];
  libraries: readonly SystemLibrary[];
}

const product = 'windows-machine-config-operator';

/** The SBOM of the operator as SPDX 2.3. Its date is that of the build, so that it is reproducible. */
export function printSpdx({ build, sha256, components, libraries }: Described): string {
  const main = packageOf({ name: product, version: build.version, license: 'Apache-2.0', sums: { SHA256: sha256 } });
  const contained = components.flatMap(component => [component, ...(component.parts ?? [])]).map(componentPackage);
  const system = libraries.map(({ name, license, sha256: sum }) =>
    packageOf({ name, version: sum.slice(0, 12), license, sums: { SHA256: sum } }),
  );
  const packages = [main, ...contained, ...system];
  const hash = createHash('sha256').update(JSON.stringify(packages)).digest('hex');
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${product}-${build.version}`,
    documentNamespace: `urn:${product}:${build.version}:${hash.slice(0, 32)}`,
    creationInfo: { created: build.date, creators: [`Tool: ${product}-release`] },
    documentDescribes: [main.SPDXID],
    packages,
    relationships: [...contained, ...system].map(({ SPDXID }) => ({
      spdxElementId: main.SPDXID,
      relationshipType: system.some(each => each.SPDXID === SPDXID) ? 'DEPENDS_ON' : 'CONTAINS',
      relatedSpdxElement: SPDXID,
    })),
    hasExtractedLicensingInfos: [
      { licenseId: 'LicenseRef-public-domain', extractedText: 'This software is in the public domain.' },
    ],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function componentPackage({ name, version, purl, license, sha512 }: Component) {
  return packageOf({ name, version, license, purl, sums: sha512 === undefined ? {} : { SHA512: sha512 } });
}

interface Facts {
  name: string;
  version: string;
  license: string;
  purl?: string;
  sums: Record<string, string>;
}

function packageOf({ name, version, license, purl, sums }: Facts) {
  const checksums = Object.entries(sums).map(([algorithm, checksumValue]) => ({ algorithm, checksumValue }));
  return {
    SPDXID: `SPDXRef-${`${name}-${version}`.replaceAll(/[^A-Za-z0-9.-]/g, '-')}`,
    name,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: 'NOASSERTION',
    ...(checksums.length > 0 && { checksums }),
    ...(purl !== undefined && {
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
    }),
  };
}
