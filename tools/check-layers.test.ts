import { expect, test } from 'vitest';
import { brokenRules, importsOf } from './check-layers.ts';

const from = (path: string) => `import { x } from '${path}';\n`;

const allowed: [string, string, string][] = [
  ['a neighbour in its own folder', 'contract/names.ts', from('./paths.ts')],
  ['a lower layer', 'contract/names.ts', from('#base/errors.ts')],
  [
    'types of cluster in desired',
    'node/desired/services.ts',
    "import type { ClusterFacts } from '#cluster/facts.ts';\n",
  ],
  ['a decision in the command line', 'cli/check/csr.ts', from('#controllers/csr/decide.ts')],
  ['node: in a layer with I/O', 'host/keys/openpgp.ts', from('node:crypto')],
  ['process.env in a program', 'bin/wmco.ts', "const x = process.env['A'];\n"],
  ['the clock in its own file', 'base/clock.ts', 'export const now = () => Date.now();\n'],
  ['a word in a comment', 'contract/names.ts', '/** Never uses Date.now here. */\nexport const a = 1;\n'],
  ['anything in a test', 'contract/names.test.ts', from('node:fs')],
  ['the SSH library in its place', 'host/ssh/client.ts', from('ssh2')],
  ['the SSH library in simulated hosts', 'sandbox/machines/ssh/sshd.ts', from('ssh2')],
  ['native code in its place', 'agent/win32/services/services.ts', from('koffi')],
];
for (const [name, path, text] of allowed) {
  test(`allows ${name}`, () => {
    expect(brokenRules(path, text)).toEqual([]);
  });
}

const forbidden: [string, string, string, RegExp][] = [
  ['a higher layer', 'base/errors.ts', from('#contract/names.ts'), /base may not import contract/],
  ['Windows in the Kubernetes machinery', 'kube/client.ts', from('#contract/names.ts'), /kube may not import contract/],
  ['Kubernetes in the SSH layer', 'host/ssh/client.ts', from('#kube/client.ts'), /host may not import kube/],
  ['the operator in the agent', 'agent/bootstrap.ts', from('#node/payload.ts'), /agent may not import node/],
  ['the sandbox in the product', 'operator/main.ts', from('#sandbox/world.ts'), /operator may not import sandbox/],
  ['a relative detour to another layer', 'contract/names.ts', from('../base/errors.ts'), /across layers/],
  ['a detour out of desired', 'node/desired/files.ts', from('../payload.ts'), /may not leave its folder/],
  ['a way out of desired by name', 'node/desired/files.ts', from('#node/payload.ts'), /may not leave its folder/],
  ['code of cluster in desired', 'node/desired/files.ts', from('#cluster/network.ts'), /only types of cluster/],
  ['the client in desired', 'node/desired/files.ts', from('#kube/client.ts'), /may not import kube/],
  ['node: in the contract', 'contract/names.ts', from('node:fs'), /may not import node:fs/],
  ['node: in a decision', 'controllers/csr/decide.ts', from('node:crypto'), /may not import node:crypto/],
  ['node: beside a decision', 'controllers/csr/rules.ts', from('node:crypto'), /may not import node:crypto/],
  ['node: in a plan', 'agent/services/plan.ts', from('node:os'), /may not import node:os/],
  ['the clock in pure code', 'contract/names.ts', 'export const t = () => Date.now();\n', /Date\.now/],
  ['chance in pure code', 'node/desired/files.ts', 'export const r = () => Math.random();\n', /Math\.random/],
  ['state in pure code', 'contract/names.ts', 'let count = 0;\n', /state at top level/],
  ['the clock anywhere else', 'host/ssh/client.ts', 'const t = Date.now();\n', /only base\/clock\.ts/],
  ['process.env outside the programs', 'cli/main.ts', "const x = process.env['A'];\n", /only bin/],
  ['a controller body in the command line', 'cli/status.ts', from('#controllers/csr/controller.ts'), /only decide\.ts/],
  ['the SSH library elsewhere', 'controllers/csr/observe.ts', from('ssh2'), /only host\/ssh/],
  ['the SSH library elsewhere in the sandbox', 'sandbox/machines/fleet.ts', from('ssh2'), /only host\/ssh/],
  ['native code elsewhere', 'agent/files.ts', from('koffi'), /only agent\/win32/],
  ['a folder that is no layer', 'utils/strings.ts', from('./x.ts'), /in no layer/],
  ['a dynamic import', 'contract/names.ts', "await import('#kube/client.ts');\n", /contract may not import kube/],
  [
    'an export from elsewhere',
    'contract/names.ts',
    "export { a } from '#kube/a.ts';\n",
    /contract may not import kube/,
  ],
];
for (const [name, path, text, why] of forbidden) {
  test(`refuses ${name}`, () => {
    const problems = brokenRules(path, text);
    expect(problems.join('\n')).toMatch(why);
    expect(problems[0]).toMatch(`src/${path}: `);
  });
}

test('sees imports over several lines, and types apart from values', () => {
  const text = "import {\n  a,\n  type B,\n} from '#base/a.ts';\nimport type { C } from './c.ts';\nimport './d.ts';\n";
  expect(importsOf(text)).toEqual([
    { from: '#base/a.ts', typeOnly: false },
    { from: './c.ts', typeOnly: true },
    { from: './d.ts', typeOnly: false },
  ]);
});
