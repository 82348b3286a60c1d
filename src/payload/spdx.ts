import { sha256 } from '#base/sha256.ts';

/** A component of a software bill of materials. */
export interface SpdxPackage {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string;
  purl?: string;
  /** Default: NOASSERTION. */
  download?: string;
  /** Hex, by algorithm as SPDX names it. */
  sums: Readonly<Record<string, string>>;
  files?: readonly SpdxFile[];
  /** Of the main package to this one. Default: CONTAINS. */
  relation?: 'CONTAINS' | 'DEPENDS_ON';
}

export interface SpdxFile {
  /** Relative, without `./`. */
  path: string;
  /** Hex; the format wants SHA1 for every file. */
  sums: Readonly<Record<'SHA1' | 'SHA256', string>>;
}

export interface SpdxDocument {
  main: SpdxPackage;
  parts: readonly SpdxPackage[];
  /** RFC 3339; not the time of now, so that the document is reproducible. */
  created: string;
  tool: string;
  /** Texts of the licenses that have no SPDX identifier, by their `LicenseRef-`. */
  licenseTexts?: Readonly<Record<string, string>>;
}

/** A bill of materials as SPDX 2.3 in JSON. The same document gives the same bytes. */
export function printSpdx({ main, parts, created, tool, licenseTexts = {} }: SpdxDocument): string {
  const all = [main, ...parts].map(packageOf);
  const files = parts.flatMap(part => (part.files ?? []).map(file => ({ part, file: fileOf(file) })));
  const hash = sha256(JSON.stringify([all, files])).slice(0, 32);
  const document = {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${main.name}-${main.version}`,
    documentNamespace: `urn:${main.name}:${main.version}:${hash}`,
    creationInfo: { created, creators: [`Tool: ${tool}`] },
    documentDescribes: [idOf(main)],
    packages: all,
    ...(files.length > 0 && { files: files.map(({ file }) => file) }),
    relationships: [
      ...parts.map(part => relation(idOf(main), part.relation ?? 'CONTAINS', idOf(part))),
      ...files.map(({ part, file }) => relation(idOf(part), 'CONTAINS', file.SPDXID)),
    ],
    ...(Object.keys(licenseTexts).length > 0 && {
      hasExtractedLicensingInfos: Object.entries(licenseTexts).map(([licenseId, extractedText]) => ({
        licenseId,
        extractedText,
      })),
    }),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function relation(spdxElementId: string, relationshipType: string, relatedSpdxElement: string) {
  return { spdxElementId, relationshipType, relatedSpdxElement };
}

function idOf({ name, version }: Pick<SpdxPackage, 'name' | 'version'>): string {
  return identifier(`${name}-${version}`);
}

function identifier(text: string): string {
  return `SPDXRef-${text.replaceAll(/[^A-Za-z0-9.-]/g, '-')}`;
}

function packageOf({ name, version, license, purl, download, sums }: SpdxPackage) {
  const checksums = checksumsOf(sums);
  return {
    SPDXID: idOf({ name, version }),
    name,
    versionInfo: version,
    downloadLocation: download ?? 'NOASSERTION',
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

function fileOf({ path, sums }: SpdxFile) {
  return {
    SPDXID: identifier(`file-${path}`),
    fileName: `./${path}`,
    checksums: checksumsOf(sums),
    licenseConcluded: 'NOASSERTION',
    copyrightText: 'NOASSERTION',
  };
}

function checksumsOf(sums: Readonly<Record<string, string>>) {
  return Object.entries(sums).map(([algorithm, checksumValue]) => ({ algorithm, checksumValue }));
}
