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
  [
    'a table that is never written',
    'contract/names.ts',
    "const a: ReadonlyMap<string, string> = new Map([['x', 'y']]);\n",
  ],
  ['a list built inside a function', 'node/record.ts', 'function f() {\n  const list = [];\n  list.push(1);\n}\n'],
  ['a class with constant fields', 'contract/names.ts', 'class A {\n  readonly #x: string;\n  readonly y = 1;\n}\n'],
  ['state in what acts', 'controllers/csr/act/approver.ts', 'class A {\n  #x = 1;\n  readonly m = new Map();\n}\n'],
  ['waiting in a controller', 'controllers/csr/controller.ts', 'export async function f() {}\n'],
];
for (const [name, path, text] of allowed) {
  test(`allows ${name}`, () => {
    expect(brokenRules(path, text)).toEqual([]);
  });
}

const forbidden: [string, string, string, RegExp][] = [
  ['a higher layer', 'base/errors.ts', from('#contract/names.ts'), /base must not import contract/],
  [
    'Windows in the Kubernetes machinery',
    'kube/client.ts',
    from('#contract/names.ts'),
    /kube must not import contract/,
  ],
  ['Kubernetes in the SSH layer', 'host/ssh/client.ts', from('#kube/client.ts'), /host must not import kube/],
  ['the operator in the agent', 'agent/bootstrap.ts', from('#node/payload.ts'), /agent must not import node/],
  ['the sandbox in the product', 'operator/main.ts', from('#sandbox/world.ts'), /operator must not import sandbox/],
  ['a relative detour to another layer', 'contract/names.ts', from('../base/errors.ts'), /across layers/],
  ['a detour out of desired', 'node/desired/files.ts', from('../payload.ts'), /must not leave its folder/],
  ['a way out of desired by name', 'node/desired/files.ts', from('#node/payload.ts'), /must not leave its folder/],
  ['code of cluster in desired', 'node/desired/files.ts', from('#cluster/network.ts'), /only types of cluster/],
  ['the client in desired', 'node/desired/files.ts', from('#kube/client.ts'), /must not import kube/],
  ['node: in the contract', 'contract/names.ts', from('node:fs'), /must not import node:fs/],
  ['node: in a decision', 'controllers/csr/decide.ts', from('node:crypto'), /must not import node:crypto/],
  ['node: beside a decision', 'controllers/csr/rules.ts', from('node:crypto'), /must not import node:crypto/],
  ['node: in a plan', 'agent/services/plan.ts', from('node:os'), /must not import node:os/],
  ['the clock in pure code', 'contract/names.ts', 'export const t = () => Date.now();\n', /Date\.now/],
  ['chance in pure code', 'node/desired/files.ts', 'export const r = () => Math.random();\n', /Math\.random/],
  ['state in pure code', 'contract/names.ts', 'let count = 0;\n', /state at top level/],
  ['a variable at top level', 'controllers/csr/rules.ts', 'export var a = 1;\n', /state at top level/],
  ['a list that is written', 'contract/names.ts', 'const list: string[] = [];\nlist.push(1);\n', /list is written/],
  ['an object that is written', 'node/record.ts', "const o = {};\nfunction f() {\n  o['a'] = 1;\n}\n", /o is written/],
  ['a member that is written', 'node/record.ts', 'const o = { a: 1 };\nconst f = () => (o.a = 2);\n', /o is written/],
  ['Object.assign to a constant', 'node/record.ts', 'const o = {};\nObject.assign(o, { a: 1 });\n', /o is written/],
  [
    'a map that is written',
    'contract/a.ts',
    'const seen = new Map<string, 1>();\nseen.set(1, 1);\n',
    /seen is written/,
  ],
  ['a map that others could write', 'contract/names.ts', 'export const m = new Map([]);\n', /m must be a ReadonlyMap/],
  ['a set that others could write', 'agent/services/plan.ts', 'const s = new Set([]);\n', /s must be a ReadonlySet/],
  ['an object with state', 'controllers/x/decide.ts', 'const slots = new Slots(1);\n', /no Slots at top level/],
  ['a mutable field', 'contract/names.ts', 'class A {\n  #count = 0;\n}\n', /field #count can change/],
  ['a typed mutable field', 'contract/names.ts', 'export class A {\n  count: number;\n}\n', /field count can change/],
  ['a static field', 'contract/names.ts', 'class A {\n  static cache?: string;\n}\n', /field cache can change/],
  ['a map in a field', 'controllers/csr/rules.ts', 'class A {\n  readonly #m = new Map();\n}\n', /field #m can change/],
  [
    'a field that is written',
    'contract/names.ts',
    'class A {\n  readonly #l: string[];\n  f() {\n    this.#l.push("");\n  }\n}\n',
    /field #l can change/,
  ],
  ['waiting in a decision', 'controllers/csr/rules.ts', 'export async function f() {}\n', /must not wait/],
  ['the clock anywhere else', 'host/ssh/client.ts', 'const t = Date.now();\n', /only base\/clock\.ts/],
  ['process.env outside the programs', 'cli/main.ts', "const x = process.env['A'];\n", /only bin/],
  ['a controller body in the command line', 'cli/status.ts', from('#controllers/csr/controller.ts'), /only decide\.ts/],
  ['the SSH library elsewhere', 'controllers/csr/observe.ts', from('ssh2'), /only host\/ssh/],
  ['the SSH library elsewhere in the sandbox', 'sandbox/machines/fleet.ts', from('ssh2'), /only host\/ssh/],
  ['native code elsewhere', 'agent/files.ts', from('koffi'), /only agent\/win32/],
  ['a folder that is no layer', 'utils/strings.ts', from('./x.ts'), /in no layer/],
  ['a dynamic import', 'contract/names.ts', "await import('#kube/client.ts');\n", /contract must not import kube/],
  [
    'an export from elsewhere',
    'contract/names.ts',
    "export { a } from '#kube/a.ts';\n",
    /contract must not import kube/,
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
