import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { service } from './manifest.ts';
import { parseManifest } from './parse.ts';

const parseAll = (services: unknown) => parseManifest({ services: JSON.stringify(services), files: '[]' }).services;
const parseOne = (members: object) => parseAll([{ name: 'a', path: 'a.exe', ...members }])[0];

const badMembers: [string, object, string, string][] = [
  ['a name that is a number', { name: 5 }, 'FIELD_INVALID', 'services[0].name is 5, not a string'],
  ['no command', { path: null }, 'FIELD_INVALID', 'services[0].path is missing; expected a string'],
  ['a command that is a list', { path: [] }, 'FIELD_INVALID', 'services[0].path is [], not a string'],
  ['bootstrap as text', { bootstrap: 'true' }, 'FIELD_INVALID', 'services[0].bootstrap is "true", not true or false'],
  ['a priority as text', { priority: '1' }, 'FIELD_INVALID', 'services[0].priority is "1", not a number'],
  ['a negative priority', { priority: -1 }, 'SERVICES_MALFORMED', 'services[0].priority is -1, not an integer'],
  ['half a priority', { priority: 1.5 }, 'SERVICES_MALFORMED', 'services[0].priority is 1.5, not an integer'],
  ['a huge priority', { priority: 1e20 }, 'SERVICES_MALFORMED', 'services[0].priority is 100000000000000000000, not'],
  ['dependencies as text', { dependencies: 'b' }, 'FIELD_INVALID', 'services[0].dependencies is "b", not a list'],
  ['a dependency as number', { dependencies: [1] }, 'FIELD_INVALID', 'services[0].dependencies[0] is 1, not a string'],
  [
    'a variable without a path',
    { nodeVariablesInCommand: [{ name: 'X' }] },
    'FIELD_INVALID',
    'services[0].nodeVariablesInCommand[0].nodeObjectJsonPath is missing; expected a string',
  ],
  [
    'a script without a path',
    { powershellPreScripts: [{}] },
    'FIELD_INVALID',
    'services[0].powershellPreScripts[0].path is missing; expected a string',
  ],
  [
    'arguments of a script as text',
    { powershellPreScripts: [{ path: 'p', NodeArgs: 'x' }] },
    'FIELD_INVALID',
    'services[0].powershellPreScripts[0].NodeArgs is "x", not a list',
  ],
  [
    'an unknown source',
    { hostVariables: [{ name: 'X', source: 'registry' }] },
    'SERVICES_MALFORMED',
    'services[0].hostVariables[0].source is "registry", not one of nodeIP, fqdn, awsLocalHostname, gcpHostname',
  ],
  [
    'an unknown preparation',
    { prepare: [{ kind: 'format-disk' }] },
    'SERVICES_MALFORMED',
    'services[0].prepare[0].kind is "format-disk", not one of defender-exclusion, cni-and-kube-proxy',
  ],
  [
    'an argument of a preparation as number',
    { prepare: [{ kind: 'defender-exclusion', arguments: { path: 1 } }] },
    'FIELD_INVALID',
    'services[0].prepare[0].arguments.path is 1, not a string',
  ],
];
for (const [name, members, code, message] of badMembers) {
  test(`rejects a service with ${name}, naming it`, () => {
    const result = attempt(() => parseOne(members));
    expect(result).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(message) } });
    expect(result.ok ? '' : result.error.remedy).toMatch(/\.$/);
  });
}

const members: [string, object, object][] = [
  ['members that are left out', {}, service({ name: 'a', command: 'a.exe' })],
  [
    'null for every list',
    {
      nodeVariablesInCommand: null,
      powershellPreScripts: null,
      dependencies: null,
      hostVariables: null,
      prepare: null,
    },
    service({ name: 'a', command: 'a.exe' }),
  ],
  ['an unknown member', { description: 'x' }, service({ name: 'a', command: 'a.exe' })],
  ['the clean name of the command', { path: undefined, command: 'b.exe' }, service({ name: 'a', command: 'b.exe' })],
  ['a negative zero', { priority: -0 }, service({ name: 'a', command: 'a.exe' })],
  [
    'an empty variable of a script, which is none',
    { powershellPreScripts: [{ variableName: '', path: 'p' }] },
    service({ name: 'a', command: 'a.exe', preScripts: [{ path: 'p', args: [] }] }),
  ],
  [
    'native variables and preparations',
    {
      hostVariables: [{ name: 'IP', source: 'nodeIP' }],
      prepare: [{ kind: 'defender-exclusion', arguments: { p: 'q' } }],
    },
    service({
      name: 'a',
      command: 'a.exe',
      hostVariables: [{ name: 'IP', source: 'nodeIP' }],
      prepare: [{ kind: 'defender-exclusion', arguments: { p: 'q' } }],
    }),
  ],
  [
    'a preparation without arguments',
    { prepare: [{ kind: 'cni-and-kube-proxy' }] },
    service({ name: 'a', command: 'a.exe', prepare: [{ kind: 'cni-and-kube-proxy', arguments: {} }] }),
  ],
];
for (const [name, given, want] of members) test(`reads ${name}`, () => expect(parseOne(given)).toEqual(want));

for (const spelling of ['NodeArgs', 'nodeArgs', 'nodeargs', 'NODEARGS', 'Nodeargs']) {
  test(`reads the arguments of a script spelled ${spelling}`, () => {
    const script = { path: 'p', [spelling]: [{ name: 'N', nodeObjectJsonPath: '{.metadata.name}' }] };
    const parsed = parseOne({ powershellPreScripts: [script] });
    expect(parsed?.preScripts[0]?.args).toEqual([{ name: 'N', jsonPath: '{.metadata.name}' }]);
  });
}

test('gives a manifest or an AppError for services with any members', () => {
  const any = fc.anything({ maxDepth: 2 });
  const entry = fc.record(
    {
      name: fc.oneof(fc.string(), any),
      path: fc.oneof(fc.string(), any),
      nodeVariablesInCommand: any,
      powershellPreScripts: fc.oneof(any, fc.array(fc.record({ path: fc.string(), NodeArgs: any }))),
      hostVariables: any,
      prepare: fc.array(fc.record({ kind: fc.constantFrom('defender-exclusion', 'x'), arguments: any })),
      dependencies: fc.oneof(any, fc.array(fc.string())),
      bootstrap: fc.oneof(fc.boolean(), any),
      priority: fc.oneof(fc.integer(), any),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 3 }), list => {
      attempt(() => parseAll(list));
    }),
    { numRuns: 2000 },
  );
});
