import { core, jsonPatch, type ParityCase, type Step, status } from './case.ts';
import { define, thing, things, tried, withSpec } from './custom-steps.ts';

const text = { type: 'string' };
const keep = { 'x-kubernetes-preserve-unknown-fields': true };

/** A dry run: the spec that the server makes of this one. */
function becomes(spec: unknown, want: unknown, lacks: string[] = []): Step {
  return {
    send: `POST ${things}?dryRun=All`,
    body: thing({ spec }),
    code: 201,
    gives: { spec: want },
    lacks: lacks.map(path => `spec.${path}`),
  };
}

/** A dry run that is rejected; the message names the field. */
function refused(spec: unknown, message: RegExp): Step {
  return { send: `POST ${things}?dryRun=All`, body: thing({ spec }), code: 422, gives: status('Invalid', message) };
}

const limits = {
  text,
  int: { type: 'integer' },
  number: { type: 'number' },
  flag: { type: 'boolean' },
  list: { type: 'array', items: text },
  nullable: { ...text, nullable: true },
  choice: { ...text, enum: ['a', 'b'] },
  pattern: { ...text, pattern: '^[a-z]+$' },
  short: { ...text, minLength: 2, maxLength: 3 },
  range: { type: 'integer', minimum: 1, maximum: 5 },
  above: { type: 'integer', minimum: 1, exclusiveMinimum: true },
  even: { type: 'integer', multipleOf: 2 },
  few: { type: 'array', minItems: 1, maxItems: 2, items: text },
  small: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: text },
  needs: { type: 'object', required: ['a'], properties: { a: text } },
  map: { type: 'object', additionalProperties: { type: 'integer' } },
  either: { 'x-kubernetes-int-or-string': true },
  time: { ...text, format: 'date-time' },
  address: { ...text, format: 'ipv4' },
  network: { ...text, format: 'cidr' },
  bytes: { ...text, format: 'byte' },
  unknown: { ...text, format: 'frobnicate' },
};

const wrong: [unknown, RegExp][] = [
  [{ text: 1 }, /spec\.text.*must be of type string: "integer"/],
  [{ text: {} }, /spec\.text.*must be of type string: "object"/],
  [{ int: 'x' }, /spec\.int.*must be of type integer: "string"/],
  [{ int: 1.5 }, /spec\.int.*must be of type integer: "number"/],
  [{ number: 'x' }, /spec\.number.*must be of type number: "string"/],
  [{ flag: 1 }, /spec\.flag.*must be of type boolean: "integer"/],
  [{ list: 'x' }, /spec\.list.*must be of type array: "string"/],
  [{ list: [1] }, /spec\.list.*must be of type string: "integer"/],
  [{ nullable: 1 }, /spec\.nullable.*must be of type string: "integer"/],
  [{ choice: 'c' }, /spec\.choice: Unsupported value: "c": supported values: "a", "b"/],
  [{ pattern: 'A' }, /spec\.pattern in body should match '\^\[a-z\]\+\$'/],
  [{ short: 'a' }, /spec\.short in body should be at least 2 chars long/],
  [{ short: 'abcd' }, /spec\.short/],
  [{ range: 0 }, /spec\.range in body should be greater than or equal to 1/],
  [{ range: 6 }, /spec\.range in body should be less than or equal to 5/],
  [{ above: 1 }, /spec\.above in body should be greater than 1/],
  [{ even: 3 }, /spec\.even in body should be a multiple of 2/],
  [{ few: [] }, /spec\.few in body should have at least 1 items/],
  [{ few: ['a', 'b', 'c'] }, /spec\.few/],
  [{ small: {} }, /spec\.small in body should have at least 1 properties/],
  [{ small: { a: 'x', b: 'x', c: 'x' } }, /spec\.small/],
  [{ needs: {} }, /spec\.needs\.a: Required value/],
  [{ map: { a: 'x' } }, /spec\.map\.a.*must be of type integer: "string"/],
  [{ either: true }, /spec\.either.*must be of type integer,string: "boolean"/],
  [{ time: '2020-01-01' }, /spec\.time in body must be of type date-time: "2020-01-01"/],
  [{ address: '1.2.3' }, /spec\.address in body must be of type ipv4/],
  [{ network: '1.2.3.4' }, /spec\.network in body must be of type cidr/],
  [{ bytes: '!' }, /spec\.bytes in body must be of type byte/],
];

const right: unknown[] = [
  {
    text: 'x',
    int: 5,
    number: 1.5,
    flag: false,
    list: ['a'],
    nullable: null,
    choice: 'a',
    pattern: 'abc',
    short: 'ab',
  },
  { range: 5, above: 2, even: 4, few: ['a'], small: { a: 'b' }, needs: { a: 'x' }, map: { a: 1 }, either: 5 },
  { either: '50%', time: '2020-01-01T00:00:00+01:00', address: '1.2.3.4', network: '10.0.0.0/8', bytes: 'YQ==' },
  { unknown: 'anything' },
];

export const crdCases: readonly ParityCase[] = [
  {
    name: 'validates a custom resource by its schema',
    steps: [
      ...define(withSpec(limits)),
      ...right.map(content => becomes(content, content)),
      ...wrong.map(([content, message]) => refused(content, message)),
      refused('x', /spec.*must be of type object: "string"/),
      {
        send: `POST ${things}?dryRun=All`,
        body: thing({ spec: { int: 'x', choice: 'c', needs: {} } }),
        code: 422,
        gives: status('Invalid', /spec\.int.*spec\.choice|spec\.choice.*spec\.int/, { kind: 'Thing', name: 't' }),
      },
    ],
  },
  {
    name: 'prunes unknown fields of a custom resource',
    steps: [
      ...define(
        withSpec({
          a: text,
          o: { type: 'object', properties: { a: text } },
          l: { type: 'array', items: { type: 'object', properties: { a: text } } },
          m: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
          open: { type: 'object', ...keep, properties: { o: { type: 'object', properties: { a: text } } } },
          any: keep,
          bare: { type: 'object' },
          nullable: { ...text, nullable: true },
        }),
      ),
      becomes({ a: '1', b: 2 }, { a: '1' }, ['b']),
      becomes({ o: { a: '1', b: 2 } }, { o: { a: '1' } }, ['o.b']),
      becomes({ l: [{ a: '1', b: 2 }] }, { l: [{ a: '1' }] }, ['l.0.b']),
      becomes({ m: { k: { a: '1', b: 2 } } }, { m: { k: { a: '1' } } }, ['m.k.b']),
      becomes({ open: { x: { y: 1 }, o: { a: '1', b: 2 } } }, { open: { x: { y: 1 }, o: { a: '1' } } }, ['open.o.b']),
      becomes({ any: [{ x: [1, null] }] }, { any: [{ x: [1, null] }] }),
      becomes({ bare: { a: 1 } }, { bare: {} }, ['bare.a']),
      becomes({ a: null, nullable: null, open: { x: null } }, { nullable: null, open: { x: null } }, ['a']),
      { send: `POST ${things}`, body: thing({ spec: { a: '1' }, other: 1 }), code: 201, lacks: ['other'] },
      { send: `PATCH ${things}/t`, body: { spec: { b: 1 }, other: 2 }, code: 200, lacks: ['spec.b', 'other'] },
      {
        send: `PATCH ${things}/t`,
        type: jsonPatch,
        body: [{ op: 'add', path: '/spec/o', value: { a: '2', b: 1 } }],
        code: 200,
        gives: { spec: { a: '1', o: { a: '2' } } },
        lacks: ['spec.o.b'],
      },
    ],
  },
  {
    name: 'sets defaults of a custom resource',
    steps: [
      ...define(
        withSpec({
          a: { ...text, default: 'x' },
          n: { ...text, nullable: true, default: 'y' },
          o: { type: 'object', default: {}, properties: { a: { type: 'integer', default: 3 } } },
          p: { type: 'object', properties: { a: { type: 'integer', default: 4 } } },
          l: { type: 'array', items: { type: 'object', properties: { a: { ...text, default: 'z' } } } },
        }),
      ),
      becomes({}, { a: 'x', n: 'y', o: { a: 3 } }, ['p', 'l']),
      becomes({ a: 'own', n: null, o: { a: 7 } }, { a: 'own', n: null, o: { a: 7 } }),
      becomes({ a: null, p: {}, l: [{}, { a: 'own' }] }, { a: 'x', p: { a: 4 }, l: [{ a: 'z' }, { a: 'own' }] }),
    ],
  },
  {
    name: 'validates anyOf, oneOf, allOf and not',
    steps: [
      ...define(
        withSpec({
          one: { type: 'object', properties: { a: text, b: text }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
          any: { type: 'object', properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
          all: { type: 'object', properties: { a: text, b: text }, allOf: [{ required: ['a'] }, { required: ['b'] }] },
          not: { ...text, not: { enum: ['bad'] } },
        }),
      ),
      becomes({ one: { a: 'x' }, any: { a: 'x', b: 'x' }, all: { a: 'x', b: 'x' }, not: 'good' }, {}),
      refused({ one: {} }, /"spec.one" must validate one and only one schema \(oneOf\). Found none valid/),
      refused({ one: { a: 'x', b: 'x' } }, /"spec.one" must validate one and only one schema \(oneOf\). Found 2 valid/),
      refused({ any: {} }, /"spec.any" must validate at least one schema \(anyOf\)/),
      refused({ all: { a: 'x' } }, /spec\.all\.b: Required value/),
      refused({ not: 'bad' }, /"spec.not" must not validate the schema \(not\)/),
    ],
  },
  {
    name: 'requires unique items in sets and unique keys in maps',
    steps: [
      ...define(
        withSpec({
          set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
          map: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['k', 'p'],
            items: { type: 'object', required: ['k', 'p'], properties: { k: text, p: { type: 'integer' } } },
          },
        }),
      ),
      becomes(
        {
          set: ['a', 'b'],
          map: [
            { k: 'a', p: 1 },
            { k: 'a', p: 2 },
          ],
        },
        {},
      ),
      refused({ set: ['a', 'b', 'a'] }, /spec\.set\[2\]: Duplicate value: "a"/),
      refused(
        {
          map: [
            { k: 'a', p: 1 },
            { k: 'a', p: 1 },
          ],
        },
        /spec\.map\[1\]: Duplicate value/,
      ),
    ],
  },
  {
    name: 'prunes the metadata of objects in a custom resource',
    steps: [
      ...define(withSpec({ o: { type: 'object', 'x-kubernetes-embedded-resource': true, ...keep } })),
      becomes(
        { o: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', frob: 1 }, spec: { any: 'thing' } } },
        { o: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { any: 'thing' } } },
        ['o.metadata.frob'],
      ),
    ],
  },
  {
    name: 'validates the status of a custom resource',
    steps: [
      ...define(withSpec({ a: text })),
      { send: `POST ${things}`, body: thing({ spec: { a: '1' } }), code: 201 },
      {
        send: `PATCH ${things}/t/status`,
        body: { status: { phase: 'Ugly' } },
        code: 422,
        gives: status(
          'Invalid',
          /status\.phase: Unsupported value: "Ugly": supported values: "Bad", "Good"|"Good", "Bad"/,
        ),
      },
      {
        send: `PATCH ${things}/t/status`,
        body: { status: { phase: 'Good', other: 1 } },
        code: 200,
        gives: { status: { phase: 'Good' } },
        lacks: ['status.other'],
      },
    ],
  },
  {
    name: 'accepts structural schemas',
    steps: [
      { ...tried({ type: 'object', ...keep }), code: 201 },
      { ...tried(withSpec(limits)), code: 201 },
      {
        ...tried(
          withSpec({
            percent: {
              'x-kubernetes-int-or-string': true,
              anyOf: [{ type: 'integer' }, { type: 'string' }],
              pattern: '^\\d+%?$',
            },
            map: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['k'],
              items: { type: 'object', properties: { k: { ...text, default: 'a' } } },
            },
          }),
        ),
        code: 201,
      },
      { send: `GET ${core}/configmaps/none`, code: 404 },
    ],
  },
];
