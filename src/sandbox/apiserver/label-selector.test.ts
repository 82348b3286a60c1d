import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import { matchesLabels, parseLabelSelector, selectorOfSpec } from './label-selector.ts';

const matching: [selector: string, labels: Record<string, string>, matches: boolean][] = [
  ['', {}, true],
  ['', { a: 'b' }, true],
  ['a=b', { a: 'b' }, true],
  ['a=b', { a: 'c' }, false],
  ['a=b', {}, false],
  ['a==b', { a: 'b' }, true],
  ['a = b', { a: 'b' }, true],
  ['a=', { a: '' }, true],
  ['a=', {}, false],
  ['a=,b=1', { a: '', b: '1' }, true],
  ['a!=b', { a: 'c' }, true],
  ['a!=b', { a: 'b' }, false],
  ['a!=b', {}, true],
  ['a!=', { a: '' }, false],
  ['a', { a: '' }, true],
  ['a', {}, false],
  ['!a', {}, true],
  ['!a', { a: 'b' }, false],
  ['! a', {}, true],
  ['a in (b)', { a: 'b' }, true],
  ['a in (b,c)', { a: 'c' }, true],
  ['a in (b, c)', { a: 'd' }, false],
  ['a in (b,c)', {}, false],
  ['a in ()', { a: '' }, true],
  ['a in (,b)', { a: '' }, true],
  ['a in (b,)', { a: '' }, true],
  ['a in (in,notin)', { a: 'in' }, true],
  ['a notin (b,c)', { a: 'd' }, true],
  ['a notin (b,c)', { a: 'b' }, false],
  ['a notin (b,c)', {}, true],
  ['a>1', { a: '2' }, true],
  ['a>1', { a: '1' }, false],
  ['a>1', {}, false],
  ['a>1', { a: 'x' }, false],
  ['a<10', { a: '9' }, true],
  ['a<10', { a: '10' }, false],
  ['a>9007199254740992', { a: '9007199254740993' }, true],
  ['example.com/a=b', { 'example.com/a': 'b' }, true],
  ['a=b,c!=d,!e,f', { a: 'b', f: '' }, true],
  ['a=b,c!=d,!e,f', { a: 'b', e: '', f: '' }, false],
  ['a,a!=b', { a: 'c' }, true],
];
test.each(matching)('%j on %j gives %j', (selector, labels, matches) => {
  expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(matches);
});

const unreadable = [
  ',',
  'a,',
  'a,,b',
  '=',
  '(',
  '!',
  '!=a',
  '!!a',
  '!a=b',
  'a=b=c',
  'a b',
  'a=(',
  'a in b',
  'a in',
  'a in (',
  'a in (b',
  'a in (b) c',
  'a in (=)',
];
test.each(unreadable)('rejects %j', selector => {
  expect(refusal(() => parseLabelSelector(selector))).toEqual([
    400,
    expect.stringMatching(/^unable to parse requirement: /),
  ]);
});

const invalid: [selector: string, message: RegExp][] = [
  ['a in (b c)', /^unable to parse requirement: invalid label value: "b c"/],
  ['a>b', /^unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer$/],
  ['a>', /^unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer$/],
  ['-a=b', /^unable to parse requirement: invalid label key "-a": name part must consist of/],
  ['a/b/c=d', /^unable to parse requirement: invalid label key "a\/b\/c": a qualified name/],
  ['a=-b', /^unable to parse requirement: invalid label value: "-b": at key: "a": a valid label/],
  ['a in (b,-c)', /^unable to parse requirement: invalid label value: "-c": at key: "a"/],
];
test.each(invalid)('explains what is wrong with %j', (selector, message) => {
  expect(refusal(() => parseLabelSelector(selector))).toEqual([400, expect.stringMatching(message)]);
});

test('reads labels of their own only', () => {
  expect(matchesLabels(parseLabelSelector('constructor'), {})).toBe(false);
  expect(matchesLabels(parseLabelSelector('!toString'), {})).toBe(true);
});

const specs: [string, Parameters<typeof selectorOfSpec>[0], Record<string, string>, boolean][] = [
  ['nothing', {}, { a: 'b' }, true],
  ['labels', { matchLabels: { a: 'b' } }, { a: 'b', c: 'd' }, true],
  ['labels that differ', { matchLabels: { a: 'b', c: 'd' } }, { a: 'b' }, false],
  ['In', { matchExpressions: [{ key: 'a', operator: 'In', values: ['b', 'c'] }] }, { a: 'c' }, true],
  ['In without the label', { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }, {}, false],
  ['NotIn', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }, { a: 'c' }, true],
  ['NotIn without the label', { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] }, {}, true],
  ['Exists', { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { a: '' }, true],
  ['DoesNotExist', { matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }, { a: '' }, false],
  [
    'labels and expressions',
    { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
    { a: 'b', c: 'd' },
    true,
  ],
];
test.each(specs)('matches selectors of a spec: %s', (_, spec, labels, matches) => {
  expect(matchesLabels(selectorOfSpec(spec), labels)).toBe(matches);
});

test('a set and its complement share every object between them', () => {
  const name = fc.stringMatching(/^[a-z]{1,3}$/);
  fc.assert(
    fc.property(
      name,
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.dictionary(name, name),
      (key, values, labels) => {
        const within = matchesLabels(parseLabelSelector(`${key} in (${values.join(',')})`), labels);
        const without = matchesLabels(parseLabelSelector(`${key} notin (${values.join(',')})`), labels);
        expect(within).toBe(!without);
        expect(within).toBe(Object.hasOwn(labels, key) && values.includes(labels[key] ?? ''));
      },
    ),
    { numRuns: 1000 },
  );
});

test('fails on bad texts only by refusing them', () => {
  const letters = fc.constantFrom('a', 'b', '=', '!', '(', ')', ',', '<', '>', ' ', 'in', 'notin', '-', '/');
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 12 }), parts => {
      const outcome = refusal(() => parseLabelSelector(parts.join('')));
      expect(outcome?.[0] ?? 400).toBe(400);
    }),
    { numRuns: 3000 },
  );
});
