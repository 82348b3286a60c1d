import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import { type ApplyContext, applyConfiguration } from './apply.ts';
import { type Json, trackUpdate } from './track-update.ts';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string' } } },
        },
        struct: { type: 'object', properties: { x: { type: 'string' }, y: { type: 'string' } } },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: {}, b: {} } },
      },
    },
  },
};

const context: ApplyContext = {
  resource: { group: 'ex.io', version: 'v1', kind: 'App', plural: 'apps', namespaced: true },
  subresource: '',
  statusApart: false,
  schema,
  fieldManager: 'one',
  force: false,
  now: '2026-01-01T00:00:00Z',
};

/** One change of an object: by whom, what, and whether by apply or by an update of the whole. */
type Step = [who: string, body: Json, how?: 'force' | 'update'];

function run(steps: readonly Step[]): Json {
  return steps.reduce<Json | undefined>((object, [fieldManager, body, how]) => {
    const all = { ...context, fieldManager, force: how === 'force' };
    return how === 'update' ? trackUpdate(object, body, all) : applyConfiguration(object, body, all);
  }, undefined) as Json;
}

function owners(object: Json): Record<string, unknown> {
  const entries = ((object['metadata'] as Json)['managedFields'] ?? []) as Record<string, string>[];
  return Object.fromEntries(entries.map(entry => [`${entry['manager']} ${entry['operation']}`, entry['fieldsV1']]));
}

const app = (spec: Json | undefined): Json => ({
  apiVersion: 'ex.io/v1',
  kind: 'App',
  metadata: { name: 'x' },
  ...(spec && { spec }),
});
const customHistories: [string, Step[], unknown][] = [
  [
    'takes away items, keys and fields that are said no more',
    [
      [
        'one',
        app({ set: ['a', 'b'], map: { a: '1', b: '2' }, items: [{ k: '1', v: '1' }, { k: '2' }], struct: { x: '1' } }),
      ],
      ['two', app({ set: ['c'], map: { c: '3' }, struct: { y: '2' } })],
      ['one', app({ set: ['a'], map: { a: '1' }, items: [{ k: '1' }] })],
    ],
    { set: ['a', 'c'], map: { a: '1', c: '3' }, items: [{ k: '1' }], struct: { y: '2' } },
  ],
  [
    'takes an object away with its last field',
    [
      ['one', app({ text: 't', struct: { x: '1' }, map: { a: '1' }, items: [{ k: '1' }] })],
      ['one', app({ text: 't' })],
    ],
    { text: 't' },
  ],
  [
    'takes the spec away with its last field',
    [
      ['one', app({ text: 't' })],
      ['one', app(undefined)],
    ],
    undefined,
  ],
  [
    'keeps an object that is said to be empty',
    [
      ['one', app({ struct: { x: '1' } })],
      ['one', app({ struct: {} })],
    ],
    { struct: {} },
  ],
  [
    'replaces what belongs together',
    [
      ['one', app({ atomic: { a: '1' } })],
      ['one', app({ atomic: { b: '2' } })],
    ],
    { atomic: { b: '2' } },
  ],
  [
    'keeps a field of an item that somebody else has set',
    [
      ['one', app({ items: [{ k: '1' }] })],
      ['two', app({ items: [{ k: '1', v: '2' }] })],
      ['one', app({})],
    ],
    { items: [{ k: '1', v: '2' }] },
  ],
];

test.each(customHistories)('%s', (_name, steps, want) => {
  expect(run(steps)['spec']).toEqual(want);
});

test('refuses unknown fields', () => {
  const act = (): unknown => applyConfiguration(undefined, app({ b: 1 }), context);
  expect(act).toThrow('failed to create typed patch object: .spec.b: field not declared in schema');
  expect(act).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 500 }) }));
});

const name = fc.constantFrom('a', 'b', 'c');
const value = fc.constantFrom('1', '2');
const spec = fc.record(
  {
    text: value,
    set: fc.uniqueArray(name, { minLength: 1 }),
    map: fc.dictionary(name, value, { minKeys: 1 }),
    items: fc.uniqueArray(fc.record({ k: name, v: value }), { selector: ({ k }) => k, minLength: 1 }),
    struct: fc.record({ x: value, y: value }, { requiredKeys: ['x'] }),
    atomic: fc.dictionary(fc.constantFrom('a', 'b'), value),
  },
  { requiredKeys: [] },
);
const applies = fc.array(fc.tuple(fc.constantFrom('one', 'two'), spec), { maxLength: 5 });
const history = (all: readonly (readonly [string, Json])[]): Step[] =>
  all.map(([who, content]) => [who, app(content), 'force']);

test('is idempotent: applying the same again changes nothing', () => {
  fc.assert(
    fc.property(applies, spec, (before, last) => {
      const once = run([...history(before), ['one', app(last), 'force']]);
      const again = applyConfiguration(once, app(last), { ...context, now: 'later' });
      expect(again).toEqual(once);
    }),
    { numRuns: 500 },
  );
});

test('has everything that was applied last', () => {
  fc.assert(
    fc.property(applies, spec, (before, last) => {
      const object = run([...history(before), ['one', app(last), 'force']]);
      const { set: _set, items: _items, ...rest } = last;
      expect(object).toMatchObject(app(rest));
      const { set = [], items = [] } = (object['spec'] ?? {}) as { set?: string[]; items?: Json[] };
      expect(set).toEqual(expect.arrayContaining(last.set ?? []));
      expect(items).toEqual(expect.arrayContaining(last.items ?? []));
    }),
    { numRuns: 500 },
  );
});

test('holds nothing but what managers say when all came by apply', () => {
  fc.assert(
    fc.property(applies, spec, (before, last) => {
      const alone = run([...history(before), ['two', app(undefined), 'force'], ['one', app(last), 'force']]);
      const fresh = run([['one', app(last), 'force']]);
      expect(sorted(alone['spec'])).toEqual(sorted(fresh['spec']));
      expect(owners(alone)).toEqual(owners(fresh));
    }),
    { numRuns: 500 },
  );
});

test('does by force what it does without when nobody objects', () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const live = run([['one', app(first)]]);
      const all = { ...context, fieldManager: 'two' };
      const polite = outcome(() => applyConfiguration(live, app(second), all));
      const forced = applyConfiguration(live, app(second), { ...all, force: true });
      if (polite !== undefined) expect(polite).toEqual(forced);
    }),
    { numRuns: 500 },
  );
});

test('throws nothing but statuses', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (live, metadata, body) => {
      const object = { ...app({}), metadata, spec: live };
      outcome(() => applyConfiguration(object, { ...app({}), spec: body }, { ...context }));
      outcome(() => applyConfiguration(undefined, body, { ...context }));
    }),
    { numRuns: 1000 },
  );
});

/** Lists of items and scalars have no order of their own. */
function sorted(spec: unknown): unknown {
  if (typeof spec !== 'object' || spec === null) return spec;
  return Object.fromEntries(
    Object.entries(spec).map(([member, content]) => [
      member,
      Array.isArray(content)
        ? content.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
        : content,
    ]),
  );
}

function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return undefined;
  }
}
