import { printSpdx as print, type SpdxPackage } from '../../src/payload/spdx.ts';
import type { Component } from '../build-agent/components.ts';
import type { Build } from './build.ts';

/** A file of the image that is not part of the executable. */
export interface SystemLibrary {
  name: string;
  version: string;
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
  const contained = components.flatMap(component => [component, ...(component.parts ?? [])]).map(packageOf);
  const system = libraries.map(
    ({ name, version, license, sha256: sum }): SpdxPackage => ({
      name,
      version,
      license,
      sums: { SHA256: sum },
      relation: 'DEPENDS_ON',
    }),
  );
  return print({
    main: { name: product, version: build.version, license: 'Apache-2.0', sums: { SHA256: sha256 } },
    parts: [...contained, ...system],
    created: build.date,
    tool: `${product}-release`,
    licenseTexts: { 'LicenseRef-public-domain': 'This software is in the public domain.' },
  });
}

function packageOf({ name, version, purl, license, sha512 }: Component): SpdxPackage {
  return { name, version, license, purl, sums: sha512 === undefined ? {} : { SHA512: sha512 } };
}
