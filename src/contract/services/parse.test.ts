import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { service } from './manifest.ts';
import { parseManifest } from './parse.ts';

const json = JSON.stringify;
const data = (services: unknown, more: Record<string, string> = {}) => ({
  services: json(services),
  files: '[]',
  ...more,
});
const codeOf = (run: () => unknown) => {
  const result = attempt(run);
  return result.ok ? 'ok' : result.error.code;
};

/** What the Go operator writes on Azure: `NodeArgs` without a tag, & escaped, empty members left out. */
const written = {
  services: String.raw`[{"name":"containerd","path":"C:\\k\\containerd\\containerd.exe --run-service","powershellPreScripts":[{"path":"C:\\Temp\\windows-defender-exclusion.ps1 -BinPath C:\\k\\containerd\\containerd.exe","NodeArgs":null}],"bootstrap":true,"priority":0},{"name":"kubelet","path":"C:\\k\\kubelet.exe --node-ip=NODE_IP","powershellPreScripts":[{"variableName":"NODE_IP","path":"a \u0026 b","NodeArgs":null}],"dependencies":["containerd"],"bootstrap":true,"priority":1},{"name":"hybrid-overlay-node","path":"C:\\k\\hybrid-overlay-node.exe --node NODE_NAME","nodeVariablesInCommand":[{"name":"NODE_NAME","nodeObjectJsonPath":"{.metadata.name}"}],"dependencies":["kubelet"],"bootstrap":false,"priority":2},{"name":"kube-proxy","path":"C:\\k\\kube-proxy.exe","powershellPreScripts":[{"path":"C:\\Temp\\network-conf.ps1 -hostnameOverride NODE_NAME","NodeArgs":[{"name":"NODE_NAME","nodeObjectJsonPath":"{.metadata.name}"},{"name":"VERBOSITY","nodeObjectJsonPath":"0"}]}],"dependencies":["hybrid-overlay-node"],"bootstrap":false,"priority":3}]`,
  files: '[]',
  environmentVars: '{"HTTP_PROXY":"http://proxy:3128","NO_PROXY":"a,b"}',
  watchedEnvironmentVars: '["HTTP_PROXY","HTTPS_PROXY","NO_PROXY"]',
};

test('reads a manifest written by the Go operator', () => {
  const manifest = parseManifest(written);
  expect(manifest.services).toEqual([
    service({
      name: 'containerd',
      command: String.raw`C:\k\containerd\containerd.exe --run-service`,
      preScripts: [
        {
          path: String.raw`C:\Temp\windows-defender-exclusion.ps1 -BinPath C:\k\containerd\containerd.exe`,
          args: [],
        },
      ],
      bootstrap: true,
    }),
    service({
      name: 'kubelet',
      command: String.raw`C:\k\kubelet.exe --node-ip=NODE_IP`,
      preScripts: [{ variable: 'NODE_IP', path: 'a & b', args: [] }],
      dependencies: ['containerd'],
      bootstrap: true,
      priority: 1,
    }),
    service({
      name: 'hybrid-overlay-node',
      command: String.raw`C:\k\hybrid-overlay-node.exe --node NODE_NAME`,
      nodeVariables: [{ name: 'NODE_NAME', jsonPath: '{.metadata.name}' }],
      dependencies: ['kubelet'],
      priority: 2,
    }),
    service({
      name: 'kube-proxy',
      command: String.raw`C:\k\kube-proxy.exe`,
      preScripts: [
        {
          path: String.raw`C:\Temp\network-conf.ps1 -hostnameOverride NODE_NAME`,
          args: [
            { name: 'NODE_NAME', jsonPath: '{.metadata.name}' },
            { name: 'VERBOSITY', jsonPath: '0' },
          ],
        },
      ],
      dependencies: ['hybrid-overlay-node'],
      priority: 3,
    }),
  ]);
  expect(manifest.files).toEqual([]);
  expect(manifest.environment).toEqual({ HTTP_PROXY: 'http://proxy:3128', NO_PROXY: 'a,b' });
  expect(manifest.watchedEnvironment).toEqual(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']);
});

const accepted: [string, Record<string, string>][] = [
  ['all four keys with empty values', { ...data([]), environmentVars: '{}', watchedEnvironmentVars: '[]' }],
  ['null for variables', { ...data([]), environmentVars: 'null', watchedEnvironmentVars: 'null' }],
  ['empty texts for variables', { ...data([]), environmentVars: '', watchedEnvironmentVars: '' }],
  ['no variables', { ...data([]), watchedEnvironmentVars: '[]' }],
  ['services and files only', data([])],
  ['one unknown key', { ...data([]), other: 'x' }],
  ['two unknown keys', { ...data([]), other: 'x', another: '' }],
  ['JSON with white space', { services: ' [\n] ', files: '\t[]' }],
];
for (const [name, input] of accepted) {
  test(`takes ${name}`, () => {
    expect(parseManifest(input)).toEqual({ services: [], files: [], environment: {}, watchedEnvironment: [] });
  });
}

const refused: [string, Record<string, string>, string][] = [
  ['no keys', {}, 'has 0 data keys (none), expected 2 to 4'],
  ['services only', { services: '[]' }, 'has 1 data keys (services), expected 2 to 4'],
  ['services and variables only', { services: '[]', environmentVars: '{}' }, 'has no data key "files"'],
  ['files only, twice counted', { files: '[]', filez: '[]' }, 'has no data key "services"'],
  [
    'services misspelt',
    { files: '[]', testKey: '[]', environmentVars: '{}', watchedEnvironmentVars: '[]' },
    'has no data key "services"',
  ],
  [
    'five keys',
    { ...data([]), environmentVars: '{}', watchedEnvironmentVars: '[]', other: 'x' },
    'has 5 data keys (services, files, environmentVars, watchedEnvironmentVars, other), expected 2 to 4',
  ],
  ['services that are not JSON', { services: '[', files: '[]' }, 'data["services"] is not valid JSON'],
  ['empty services', { services: '', files: '[]' }, 'data["services"] is not valid JSON'],
  ['services that are null', { services: 'null', files: '[]' }, 'data["services"] is not a JSON array'],
  ['services that are an object', { services: '{}', files: '[]' }, 'data["services"] is not a JSON array'],
  ['a service that is a text', { services: '["a"]', files: '[]' }, 'data["services"][0] is not an object'],
  ['a service that is null', { services: '[null]', files: '[]' }, 'data["services"][0] is not an object'],
  ['files that are not JSON', { services: '[]', files: 'x' }, 'data["files"] is not valid JSON'],
  ['files that are an object', { services: '[]', files: '{}' }, 'data["files"] is not a JSON array'],
  ['a file that is a list', { services: '[]', files: '[[]]' }, 'data["files"][0] is not an object'],
  ['variables that are not JSON', { ...data([]), environmentVars: '{' }, 'data["environmentVars"] is not valid JSON'],
  [
    'variables that are a list',
    { ...data([]), environmentVars: '[]' },
    'data["environmentVars"] is not a JSON object of strings',
  ],
  [
    'a variable that is a number',
    { ...data([]), environmentVars: '{"A":1}' },
    'data["environmentVars"] is not a JSON object of strings',
  ],
  [
    'a variable that is null',
    { ...data([]), environmentVars: '{"A":null}' },
    'data["environmentVars"] is not a JSON object of strings',
  ],
  [
    'watched variables that are no list',
    { ...data([]), watchedEnvironmentVars: '{}' },
    'data["watchedEnvironmentVars"] is not a JSON array of strings',
  ],
  [
    'a watched variable that is a number',
    { ...data([]), watchedEnvironmentVars: '[1]' },
    'data["watchedEnvironmentVars"] is not a JSON array of strings',
  ],
];
for (const [name, input, message] of refused) {
  test(`rejects ${name}`, () => {
    const result = attempt(() => parseManifest(input, 'ConfigMap wmco/windows-services-v2'));
    expect(result).toMatchObject({
      ok: false,
      error: {
        code: 'SERVICES_MALFORMED',
        message: `ConfigMap wmco/windows-services-v2: ${message}`,
        remedy: 'Delete the ConfigMap; the operator writes it again.',
      },
    });
  });
}

test('a message never quotes the value of a variable, which may hold a password', () => {
  for (const text of ['{"HTTP_PROXY":"http://u:hunter2@p",}', '["http://u:hunter2@p"]', '{"A":["hunter2"]}']) {
    const result = attempt(() => parseManifest({ ...data([]), environmentVars: text }));
    expect(result.ok ? 'accepted' : `${result.error.message}${result.error.remedy}`).not.toMatch(/hunter2|accepted/);
  }
});

test('reads files, with or without a checksum', () => {
  const input = { services: '[]', files: '[{"path":"C:\\\\k\\\\a","checksum":"1"},{"path":"b"}]' };
  expect(parseManifest(input).files).toEqual([
    { path: 'C:\\k\\a', checksum: '1' },
    { path: 'b', checksum: '' },
  ]);
});

test('rejects a file without a path', () => {
  expect(codeOf(() => parseManifest({ services: '[]', files: '[{}]' }))).toBe('FIELD_INVALID');
});

test('services come out by priority, in the order of the file where it is equal', () => {
  const list = [
    { name: 'd', path: 'x', priority: 3 },
    { name: 'b', path: 'x', priority: 2 },
    { name: 'c', path: 'x', priority: 2 },
    { name: 'a', path: 'x', priority: 0, bootstrap: true },
  ];
  expect(parseManifest(data(list)).services.map(one => one.name)).toEqual(['a', 'b', 'c', 'd']);
});

test('the order of equal priorities is kept among very many services', () => {
  const list = Array.from({ length: 500 }, (_, at) => ({ name: `s${at}`, path: 'x', priority: at % 3 }));
  const names = parseManifest(data(list)).services.map(one => Number(one.name.slice(1)));
  expect(names).toEqual([0, 1, 2].flatMap(rest => list.map((_, at) => at).filter(at => at % 3 === rest)));
});

const rules: [string, object[], string][] = [
  ['an empty name', [{ name: ' ', path: 'x' }], 'SERVICES_MALFORMED'],
  ['an empty command', [{ name: 'a', path: '' }], 'SERVICES_MALFORMED'],
  [
    'a name twice',
    [
      { name: 'a', path: 'x' },
      { name: 'A', path: 'x' },
    ],
    'SERVICES_MALFORMED',
  ],
  ['a cycle', [{ name: 'a', path: 'x', dependencies: ['a'] }], 'SERVICES_DEPENDENCY_INVALID'],
  [
    'a bootstrap service after another',
    [
      { name: 'a', path: 'x', priority: 1, bootstrap: true },
      { name: 'b', path: 'x', priority: 0 },
    ],
    'SERVICES_PRIORITY_INVALID',
  ],
];
for (const [name, list, want] of rules) {
  test(`validates what it parsed: ${name}`, () => expect(codeOf(() => parseManifest(data(list)))).toBe(want));
}

test('data nested deeper than the stack is an error like any other', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const services of [deep, `[{"name":${deep}}]`, `[{"name":"a","path":"x","prepare":${deep}}]`]) {
    expect(['SERVICES_MALFORMED', 'FIELD_INVALID']).toContain(codeOf(() => parseManifest({ services, files: '[]' })));
  }
});

test('a manifest as large as a ConfigMap can be is parsed in good time', () => {
  const list = Array.from({ length: 20_000 }, (_, at) => ({ name: `s${at}`, path: 'x', dependencies: [`s${at + 1}`] }));
  const started = performance.now();
  expect(parseManifest(data(list)).services).toHaveLength(20_000);
  expect(codeOf(() => parseManifest(data([...list, ...list])))).toBe('SERVICES_MALFORMED');
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('gives a manifest or an AppError for any data', () => {
  const text = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom('[]', '{}', 'null', '', '[{}]', '[{"name":"a","path":"b"}]'),
  );
  const key = fc.constantFrom('services', 'files', 'environmentVars', 'watchedEnvironmentVars', '__proto__', 'x');
  const map = fc.array(fc.tuple(key, text), { maxLength: 5 }).map(list => Object.fromEntries(list));
  fc.assert(
    fc.property(map, input => {
      attempt(() => parseManifest(input));
    }),
    { numRuns: 2000 },
  );
});
