import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundle, layerProblems } from './bundle.ts';
import { packageFolders } from './components.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'wmco-bundle-'));
afterAll(() => rmSync(folder, { recursive: true }));

function program(text: string): string {
  const path = join(mkdtempSync(join(folder, 'program-')), 'main.ts');
  writeFileSync(path, text);
  return path;
}

const layers: [string, boolean][] = [
  ['src/agent/bootstrap.ts', true],
  ['src/base/clock.ts', true],
  ['src/bin/agent.ts', true],
  ['src/contract/names.ts', true],
  ['src/kube/client.ts', true],
  ['node_modules/yaml/dist/index.js', true],
  ['test/kit/winhost/kubelet/main.ts', true],
  ['src/host/host-key.ts', false],
  ['src/node/payload.ts', false],
  ['src/controllers/csr/decide.ts', false],
  ['src/cluster/facts.ts', false],
  ['src/cli/main.ts', false],
  ['src/sandbox/embedded-cluster.ts', false],
  ['src/sandbox/machines/kubelet/run.ts', true],
  ['src/sandbox/machines/host/host.ts', false],
  ['src/operator/all.ts', false],
];
for (const [path, isFine] of layers) {
  test(`${path} is ${isFine ? '' : 'not '}allowed on a Windows host`, () => {
    expect(layerProblems([path])).toEqual(isFine ? [] : [expect.stringContaining(path)]);
  });
}

test('the agent contains only allowed layers and few packages', async () => {
  const { inputs } = await bundle(join(root, 'src/bin/agent.ts'), '1');
  const layers = inputs.filter(path => path.startsWith('src/')).map(path => path.split('/')[1] ?? '');
  expect([...new Set(layers)]).toEqual(['agent', 'base', 'bin', 'contract', 'kube']);
  expect(packageFolders(inputs)).toEqual(['node_modules/yaml']);
});

test('rejects a program with a layer of the operator', async () => {
  await expect(bundle(join(root, 'src/node/payload.ts'), '1')).rejects.toThrow(
    /src\/node\/payload\.ts: layer node is not allowed/,
  );
});

test('replaces the version variable in every spelling', async () => {
  const { code } = await bundle(program(`console.log(process.env['WMCO_VERSION'], process.env.WMCO_VERSION)`), '1.2-x');
  expect(code).toContain('console.log("1.2-x", "1.2-x")');
});

test('lists the source files of the program', async () => {
  const { inputs } = await bundle(join(root, 'src/base/pem.ts'), '1');
  expect(inputs).toContain('src/base/pem.ts');
  expect(inputs.filter(path => !path.startsWith('src/base/'))).toEqual([]);
});

test('contains no folder of this machine', async () => {
  const { code } = await bundle(join(root, 'src/contract/services/parse.ts'), '1');
  expect(code).not.toContain(root);
  expect(code.length).toBeGreaterThan(1000);
});

const unfit: [string, string, RegExp][] = [
  ['a package that is not there', `import 'no-such-package'; export {};`, /no-such-package/],
  ['a syntax error', 'const = 1;', /main\.ts/],
  ['an addon, which cannot be part of a bundle', `import x from './x.node'; console.log(x);`, /x\.node/],
  ['what esbuild warns of', 'console.log(process.pid === NaN);', /cannot be bundled.*NaN/s],
];
for (const [name, text, message] of unfit) {
  test(`rejects ${name}`, async () => {
    await expect(bundle(program(text), '1')).rejects.toThrow(message);
  });
}

test('CommonJS packages can require modules of Node.js', async () => {
  const path = program(`import kind from './old.cjs'; console.log(kind);`);
  writeFileSync(join(path, '..', 'old.cjs'), `module.exports = require('events').name;`);
  const { code } = await bundle(path, '1');
  expect(code).toMatch(/createRequire as requireFrom.*requireFrom\(process\.execPath\)/);
});
