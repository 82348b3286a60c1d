import { core, given, jsonPatch, type ParityCase, type Step, status } from './case.ts';

const a = `PATCH ${core}/configmaps/a`;

function patch(...operations: unknown[]): Pick<Step, 'send' | 'type' | 'body'> {
  return { send: a, type: jsonPatch, body: operations };
}

function finalizers(...names: string[]): Pick<Step, 'code' | 'gives'> {
  return { code: 200, gives: { metadata: { finalizers: names } } };
}

const refused: [string, unknown][] = [
  ['a test of another value', { op: 'test', path: '/data/k', value: 'w' }],
  ['a test of another type', { op: 'test', path: '/data/k', value: 1 }],
  ['a test below nothing', { op: 'test', path: '/nothing/k', value: null }],
  ['an addition below nothing', { op: 'add', path: '/nothing/k', value: 'v' }],
  ['a removal of nothing', { op: 'remove', path: '/data/nothing' }],
  ['a removal of the end of a list', { op: 'remove', path: '/metadata/finalizers/-' }],
  ['a removal beyond the end', { op: 'remove', path: '/metadata/finalizers/9' }],
  ['an addition beyond the end', { op: 'add', path: '/metadata/finalizers/9', value: 'x.y/z' }],
  ['an addition to a list by name', { op: 'add', path: '/metadata/finalizers/x', value: 'x.y/z' }],
  ['a replacement beyond the end', { op: 'replace', path: '/metadata/finalizers/9', value: 'x.y/z' }],
  ['a move of nothing', { op: 'move', from: '/data/nothing', path: '/data/k' }],
  ['a move without a source', { op: 'move', path: '/data/k' }],
  ['an unknown operation', { op: 'frob', path: '/data/k', value: 'v' }],
  ['no operation', { path: '/data/k', value: 'v' }],
  ['no path', { op: 'add', value: 'v' }],
];

export const jsonPatchCases: readonly ParityCase[] = [
  {
    name: 'changes lists by JSON patch',
    steps: [
      given('a', { data: { k: 'v' } }),
      {
        ...patch({ op: 'add', path: '/metadata/finalizers', value: ['a.b/1', 'a.b/2'] }),
        ...finalizers('a.b/1', 'a.b/2'),
      },
      {
        ...patch({ op: 'add', path: '/metadata/finalizers/-', value: 'a.b/3' }),
        ...finalizers('a.b/1', 'a.b/2', 'a.b/3'),
      },
      {
        ...patch({ op: 'add', path: '/metadata/finalizers/1', value: 'a.b/4' }),
        ...finalizers('a.b/1', 'a.b/4', 'a.b/2', 'a.b/3'),
      },
      {
        ...patch({ op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/3' }),
        ...finalizers('a.b/4', 'a.b/2', 'a.b/3', 'a.b/1'),
      },
      {
        ...patch({ op: 'replace', path: '/metadata/finalizers/1', value: 'a.b/5' }),
        ...finalizers('a.b/4', 'a.b/5', 'a.b/3', 'a.b/1'),
      },
      { ...patch({ op: 'remove', path: '/metadata/finalizers/-1' }), ...finalizers('a.b/4', 'a.b/5', 'a.b/3') },
      { ...patch({ op: 'remove', path: '/metadata/finalizers' }), code: 200, lacks: ['metadata.finalizers'] },
    ],
  },
  {
    name: 'moves, copies and tests by JSON patch',
    steps: [
      given('a', { data: { k: 'v', l: 'w' } }),
      {
        ...patch({ op: 'move', from: '/data/k', path: '/data/m' }, { op: 'copy', from: '/data/m', path: '/data/n' }),
        code: 200,
        gives: { data: { l: 'w', m: 'v', n: 'v' } },
        lacks: ['data.k'],
      },
      {
        ...patch(
          { op: 'test', path: '/data', value: { n: 'v', m: 'v', l: 'w' } },
          { op: 'test', path: '/metadata/nothing', value: null },
          { op: 'add', path: '/data/l', value: 'x' },
        ),
        code: 200,
        gives: { data: { l: 'x' } },
      },
    ],
  },
  {
    name: 'rejects a JSON patch with a failing operation as a whole',
    steps: [
      given('a', { data: { k: 'v' } }, { finalizers: ['x.y/z'] }),
      ...refused.map(([, operation]) => ({
        ...patch({ op: 'add', path: '/data/added', value: 'x' }, operation),
        code: 422,
        gives: status('Invalid'),
      })),
      { send: `GET ${core}/configmaps/a`, code: 200, gives: { data: { k: 'v' } }, lacks: ['data.added'] },
      { ...patch({ op: 'remove', path: '/metadata/finalizers' }), code: 200 },
    ],
  },
  {
    name: 'rejects an invalid JSON patch',
    steps: [
      given('a'),
      { send: a, type: jsonPatch, body: { op: 'add' }, code: 400, gives: status('BadRequest') },
      { send: a, type: jsonPatch, body: [1], code: 400, gives: status('BadRequest') },
      { send: a, type: jsonPatch, body: '{bad', code: 400, gives: status('BadRequest') },
    ],
  },
];
