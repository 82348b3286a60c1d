import { expect, test } from 'vitest';
import { yamlIn } from './yaml-text.ts';

const cases: [name: string, text: string, want: unknown][] = [
  ['JSON', '{"a": [1]}', { a: [1] }],
  ['YAML', 'a:\n- 1\n', { a: [1] }],
  ['an alias', 'a: &x 1\nb: *x', { a: 1, b: 1 }],
  ['an empty text', '', null],
  ['a text', 'later', 'later'],
  ['an unclosed list', 'a: [', undefined],
  ['a list as key', '[a]: b', undefined],
  ['an unknown alias', 'a: *x', undefined],
  ['aliases that multiply', `a: &a [1]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]`, undefined],
];
for (const [name, text, want] of cases) {
  test(`parses ${name} as ${JSON.stringify(want) ?? 'invalid'}`, () => expect(yamlIn(text)).toEqual(want));
}
