import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  hostVariableSources,
  preparationKinds,
  type Service,
  type ServicesManifest,
  service,
  byPriority,
} from './manifest.ts';
import { parseManifest } from './parse.ts';
import { printManifest, printServices, servicesConfigMap } from './print.ts';

const variable = { name: 'N', jsonPath: '{.metadata.name}' };
const wireVariable = '{"name":"N","nodeObjectJsonPath":"{.metadata.name}"}';
const tail = '"bootstrap":false,"priority":0';

const wire: [string, Partial<Service>, string][] = [
  ['nothing but name and command', {}, `{"name":"s","path":"cmd",${tail}}`],
  [
    'bootstrap and priority, always there',
    { bootstrap: true, priority: 7 },
    '{"name":"s","path":"cmd","bootstrap":true,"priority":7}',
  ],
  [
    'variables of the Node',
    { nodeVariables: [variable] },
    `{"name":"s","path":"cmd","nodeVariablesInCommand":[${wireVariable}],${tail}}`,
  ],
  [
    'a script with a variable, its arguments written even if there are none',
    { preScripts: [{ variable: 'V', path: 'p', args: [] }] },
    `{"name":"s","path":"cmd","powershellPreScripts":[{"variableName":"V","path":"p","NodeArgs":null}],${tail}}`,
  ],
  [
    'a script without a variable',
    { preScripts: [{ path: 'p', args: [variable] }] },
    `{"name":"s","path":"cmd","powershellPreScripts":[{"path":"p","NodeArgs":[${wireVariable}]}],${tail}}`,
  ],
  [
    'a script with an empty variable',
    { preScripts: [{ variable: '', path: 'p', args: [] }] },
    `{"name":"s","path":"cmd","powershellPreScripts":[{"path":"p","NodeArgs":null}],${tail}}`,
  ],
  ['dependencies', { dependencies: ['d', 'e'] }, `{"name":"s","path":"cmd","dependencies":["d","e"],${tail}}`],
  [
    'what the agent finds out natively',
    { hostVariables: [{ name: 'IP', source: 'nodeIP' }] },
    `{"name":"s","path":"cmd","hostVariables":[{"name":"IP","source":"nodeIP"}],${tail}}`,
  ],
  [
    'what the agent prepares natively',
    { prepare: [{ kind: 'defender-exclusion', arguments: { path: 'x' } }] },
    `{"name":"s","path":"cmd","prepare":[{"kind":"defender-exclusion","arguments":{"path":"x"}}],${tail}}`,
  ],
  ['backslashes', { command: 'C:\\k\\a.exe "b"' }, String.raw`{"name":"s","path":"C:\\k\\a.exe \"b\"",${tail}}`],
];
for (const [name, members, want] of wire) {
  test(`prints ${name}`, () => {
    expect(printServices([service({ name: 's', command: 'cmd', ...members })])).toBe(`[${want}]`);
  });
}

const empty: ServicesManifest = { services: [], files: [], environment: {}, watchedEnvironment: [] };

test('prints all keys, but no variables when there are none', () => {
  expect(printManifest(empty)).toEqual({ services: '[]', files: '[]', watchedEnvironmentVars: '[]' });
  expect(printManifest({ ...empty, environment: { NO_PROXY: 'a,b' }, watchedEnvironment: ['NO_PROXY'] })).toEqual({
    services: '[]',
    files: '[]',
    environmentVars: '{"NO_PROXY":"a,b"}',
    watchedEnvironmentVars: '["NO_PROXY"]',
  });
  expect(printManifest({ ...empty, files: [{ path: 'a', checksum: '1' }] }).files).toBe(
    '[{"path":"a","checksum":"1"}]',
  );
});

test('the ConfigMap is immutable, named after the version, and has neither labels nor annotations', () => {
  expect(servicesConfigMap(empty, '11.0.0-1b759bf', 'wmco')).toEqual({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'windows-services-11.0.0-1b759bf', namespace: 'wmco' },
    immutable: true,
    data: printManifest(empty),
  });
});

test('services are handled by priority, in the order given where it is equal', () => {
  const list = [3, 1, 2, 1].map((priority, at) => service({ name: `s${at}`, command: 'x', priority }));
  expect(byPriority(list).map(one => one.name)).toEqual(['s1', 's3', 's2', 's0']);
  expect(list.map(one => one.name)).toEqual(['s0', 's1', 's2', 's3']);
});

test('a service made of members keeps them and leaves the others empty', () => {
  expect(service({ name: 'a', command: 'b', priority: 3 })).toEqual({
    name: 'a',
    command: 'b',
    nodeVariables: [],
    preScripts: [],
    hostVariables: [],
    prepare: [],
    dependencies: [],
    bootstrap: false,
    priority: 3,
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const word = text.filter(one => one.trim() !== '');
const variables = fc.array(fc.record({ name: text, jsonPath: text }), { maxLength: 2 });
const script = fc.oneof(
  fc.record({ path: text, args: variables }),
  fc.record({ variable: fc.string({ minLength: 1 }), path: text, args: variables }),
);

/** Any manifest that keeps the rules: bootstrap services first, dependencies only on earlier ones. */
const manifest: fc.Arbitrary<ServicesManifest> = fc
  .record({
    bodies: fc.uniqueArray(
      fc.record({
        name: word,
        command: word,
        nodeVariables: variables,
        preScripts: fc.array(script, { maxLength: 2 }),
        hostVariables: fc.array(fc.record({ name: text, source: fc.constantFrom(...hostVariableSources) })),
        prepare: fc.array(
          fc.record({ kind: fc.constantFrom(...preparationKinds), arguments: fc.dictionary(text, text) }),
          { maxLength: 2 },
        ),
        picks: fc.array(fc.nat({ max: 9 }), { maxLength: 3 }),
      }),
      { maxLength: 6, selector: body => body.name.toLowerCase() },
    ),
    bootstraps: fc.nat({ max: 3 }),
    files: fc.array(fc.record({ path: text, checksum: text }), { maxLength: 2 }),
    environment: fc.dictionary(text, text),
    watchedEnvironment: fc.array(text),
  })
  .map(({ bodies, bootstraps, ...others }) => ({
    ...others,
    services: bodies.map(({ picks, ...body }, at): Service => {
      const bootstrap = at < bootstraps;
      const dependencies = picks.filter(pick => pick < at).map(pick => bodies[pick]?.name ?? 'external');
      const scripts = bootstrap ? body.preScripts.map(one => ({ ...one, args: [] })) : body.preScripts;
      const nodeVariables = bootstrap ? [] : body.nodeVariables;
      return { ...body, preScripts: scripts, nodeVariables, dependencies, bootstrap, priority: at };
    }),
  }));

test('every valid manifest is the same after printing and parsing', () => {
  fc.assert(
    fc.property(manifest, given => {
      expect(parseManifest(printManifest(given))).toStrictEqual(normal(given));
    }),
    { numRuns: 1000 },
  );
});

test('printing what was parsed gives the same bytes', () => {
  fc.assert(
    fc.property(manifest, given => {
      const printed = printManifest(given);
      expect(printManifest(parseManifest(printed))).toStrictEqual(printed);
    }),
    { numRuns: 500 },
  );
});

/** JSON has neither half surrogates in UTF-8 nor maps without a prototype; everything else must survive. */
function normal(given: ServicesManifest): unknown {
  return JSON.parse(JSON.stringify(given));
}
