import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError, attempt } from './errors.ts';
import { Fields, isRecord, ownMember } from './fields.ts';

const fields = new Fields(
  {
    text: 'core',
    empty: '',
    number: 5,
    zero: 0,
    yes: true,
    no: false,
    nothing: null,
    object: { inner: { text: 'deep', list: [1] } },
    texts: ['a', 'b'],
    mixed: ['a', 5, null],
    objects: [{ name: 'one' }, null, { name: 3 }],
    map: { a: '1', b: null },
    badMap: { a: '1', b: 2 },
    infinite: Number.POSITIVE_INFINITY,
  },
  'Node win-1',
);

const values: [string, unknown, unknown][] = [
  ['a text', fields.string('text'), 'core'],
  ['an empty text', fields.string('empty'), ''],
  ['an absent text', fields.string('absent'), undefined],
  ['null as an absent text', fields.string('nothing'), undefined],
  ['a required text', fields.requiredString('text'), 'core'],
  ['a required text that is empty', fields.requiredString('empty'), ''],
  ['a number', fields.number('number'), 5],
  ['zero', fields.number('zero'), 0],
  ['an absent number', fields.number('absent'), undefined],
  ['true', fields.boolean('yes'), true],
  ['false', fields.boolean('no'), false],
  ['an absent boolean', fields.boolean('nothing'), undefined],
  ['a list of texts', fields.strings('texts'), ['a', 'b']],
  ['an absent list as an empty one', fields.strings('absent'), []],
  ['null as an empty list', fields.strings('nothing'), []],
  ['an absent list of objects as an empty one', fields.objects('absent'), []],
  ['a map of texts, null as an empty text', fields.stringMap('map'), { a: '1', b: '' }],
  ['an absent map as an empty one', fields.stringMap('absent'), {}],
  ['null as an empty map', fields.stringMap('nothing'), {}],
  ['a member of a member', fields.object('object').object('inner').string('text'), 'deep'],
  ['a member of an absent object', fields.object('absent').object('x').string('text'), undefined],
  ['a member of null', fields.object('nothing').string('text'), undefined],
  ['a member of an item', fields.objects('objects')[0]?.string('name'), 'one'],
  ['null among objects as an empty one', fields.objects('objects')[1]?.names(), []],
  ['anything as it is', fields.raw('mixed'), ['a', 5, null]],
  ['null as absent', fields.raw('nothing'), undefined],
  ['false as present', fields.raw('no'), false],
  ['the names of members', new Fields({ b: 1, a: null }, 'x').names(), ['b', 'a']],
  ['nothing as an empty object', new Fields(undefined, 'x').names(), []],
  ['null as an empty object', new Fields(null, 'x').names(), []],
  ['only own members', fields.raw('toString'), undefined],
  ['no inherited constructor', fields.string('constructor'), undefined],
  ['no prototype', fields.object('__proto__').names(), []],
];
for (const [name, got, want] of values) test(`reads ${name}`, () => expect(got).toEqual(want));

const wrong: [string, () => unknown, string][] = [
  ['a number as text', () => fields.string('number'), 'Node win-1: number is 5, not a string'],
  ['an object as text', () => fields.string('map'), 'Node win-1: map is {"a":"1","b":null}, not a string'],
  [
    'an absent required text',
    () => fields.requiredString('absent'),
    'Node win-1: absent is missing; expected a string',
  ],
  [
    'null as required text',
    () => fields.requiredString('nothing'),
    'Node win-1: nothing is missing; expected a string',
  ],
  ['a required text of another type', () => fields.requiredString('yes'), 'Node win-1: yes is true, not a string'],
  ['a text as number', () => fields.number('text'), 'Node win-1: text is "core", not a number'],
  ['infinity as number', () => fields.number('infinite'), 'Node win-1: infinite is null, not a number'],
  ['a text as boolean', () => fields.boolean('text'), 'Node win-1: text is "core", not true or false'],
  ['a number as boolean', () => fields.boolean('zero'), 'Node win-1: zero is 0, not true or false'],
  ['a text as object', () => fields.object('text'), 'Node win-1: text is "core", not an object'],
  ['a list as object', () => fields.object('texts'), 'Node win-1: texts is ["a","b"], not an object'],
  ['an object as list', () => fields.strings('map'), 'Node win-1: map is {"a":"1","b":null}, not a list'],
  ['a text as list', () => fields.objects('text'), 'Node win-1: text is "core", not a list'],
  ['a list with a number', () => fields.strings('mixed'), 'Node win-1: mixed[1] is 5, not a string'],
  ['a list of texts as objects', () => fields.objects('texts'), 'Node win-1: texts[0] is "a", not an object'],
  ['a map with a number', () => fields.stringMap('badMap'), 'Node win-1: badMap.b is 2, not a string'],
  ['a text as map', () => fields.stringMap('text'), 'Node win-1: text is "core", not an object'],
  [
    'a wrong member of an item',
    () => fields.objects('objects')[2]?.string('name'),
    'Node win-1: objects[2].name is 3, not a string',
  ],
  [
    'a wrong list deep inside',
    () => fields.object('object').object('inner').strings('list'),
    'Node win-1: object.inner.list[0] is 1, not a string',
  ],
  ['a text instead of the whole object', () => new Fields('x', 'Node win-1'), 'Node win-1 is "x", not an object'],
  ['a list instead of the whole object', () => new Fields([], 'Node win-1'), 'Node win-1 is [], not an object'],
];
for (const [name, read, message] of wrong) {
  test(`rejects ${name}, naming object, field and value`, () => {
    const result = attempt(read);
    expect(result).toMatchObject({ ok: false, error: { code: 'FIELD_INVALID', message } });
  });
}

const remedies: [() => unknown, string][] = [
  [() => fields.string('number'), 'Set number to a string.'],
  [() => fields.object('object').object('inner').strings('list'), 'Set object.inner.list[0] to a string.'],
  [() => new Fields('x', 'Node win-1'), 'Provide an object.'],
];
for (const [read, remedy] of remedies) {
  test(`says what to do: ${remedy}`, () => expect(attempt(read)).toMatchObject({ error: { remedy } }));
}

test('a map may hold any name as its own', () => {
  const map = new Fields(JSON.parse('{"m":{"__proto__":"p","constructor":"c"}}'), 'x').stringMap('m');
  expect(Object.entries(map)).toEqual([
    ['__proto__', 'p'],
    ['constructor', 'c'],
  ]);
  expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
});

const records: [string, unknown, boolean][] = [
  ['an object', {}, true],
  ['an object without a prototype', Object.create(null), true],
  ['a list', [], false],
  ['null', null, false],
  ['undefined', undefined, false],
  ['a text', 'x', false],
  ['a function', () => 0, false],
];
for (const [name, value, want] of records) {
  test(`${name} is ${want ? 'a' : 'no'} record`, () => expect(isRecord(value)).toBe(want));
}

test('returns the declared type or throws an AppError for any input', () => {
  const readers: [(from: Fields, name: string) => unknown, (value: unknown) => boolean][] = [
    [(from, name) => from.string(name), value => value === undefined || typeof value === 'string'],
    [(from, name) => from.requiredString(name), value => typeof value === 'string'],
    [(from, name) => from.number(name), value => value === undefined || Number.isFinite(value)],
    [(from, name) => from.boolean(name), value => value === undefined || typeof value === 'boolean'],
    [(from, name) => from.strings(name), value => (value as unknown[]).every(item => typeof item === 'string')],
    [(from, name) => from.objects(name), value => (value as unknown[]).every(item => item instanceof Fields)],
    [(from, name) => from.object(name), value => value instanceof Fields],
    [
      (from, name) => from.stringMap(name),
      value => Object.values(value as object).every(item => typeof item === 'string'),
    ],
  ];
  fc.assert(
    fc.property(fc.object({ maxDepth: 2 }), fc.constantFrom(...readers), (data, [read, fits]) => {
      const from = new Fields(data, 'thing');
      for (const name of [...from.names(), 'absent', '__proto__', 'toString']) {
        const result = attempt(() => read(from, name));
        if (result.ok) expect(fits(result.value)).toBe(true);
        else {
          expect(result.error).toBeInstanceOf(AppError);
          expect(result.error.message).toMatch(/^thing(: | is )/);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('ownMember ignores inherited members', () => {
  const map = { a: 1, zero: 0 };
  expect(['a', 'zero', 'b', 'constructor', '__proto__'].map(name => ownMember(map, name))).toEqual([
    1,
    0,
    undefined,
    undefined,
    undefined,
  ]);
});
