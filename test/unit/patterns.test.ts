import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import { isRecord } from '../../src/base/fields.ts';
import { patternRisk } from '../kit/patterns/risk.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';

/** Patterns that look risky but are safe, each with the reason. */
const harmless: Record<string, string> = {
  [String.raw`/\/\/(?:\\.|[^"\\])*@/g`]: 'shown() searches 4096 characters at most',
  [String.raw`/^((?:\\.|[^\\=!])*)(!=|==|=)(.*)$/s`]:
    'an equals sign is only in the first part behind a backslash, which decides it',
};

/** Patterns built at run time: where, how many, and why they are cheap. */
const dynamic: readonly [file: string, count: number, reason: string][] = [
  [
    'base/go-duration.ts',
    2,
    'every part ends with a unit, which no digit is; and a duration has 256 characters at most',
  ],
  ['agent/services/expand.ts', 1, 'escaped names without any repetition'],
  ['agent/services/reconcile.ts', 1, 'an escaped path without any repetition'],
  ['contract/windows-instance/computer-name.ts', 1, 'bounded repetitions, of 15 characters at most'],
  ['sandbox/apiserver/names.ts', 1, 'names of 4096 characters at most, in the sandbox'],
  ['sandbox/apiserver/schema/validate.ts', 1, 'patterns of CRDs that the user of a sandbox installs'],
];

interface Found {
  file: string;
  text: string;
  /** Undefined for a pattern built at run time. */
  literal?: { pattern: string; flags: string };
}

function patternsOf(file: string, code: string): Found[] {
  const found: Found[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isRecord(value)) return;
    const text = code.slice(Number(value['start']), Number(value['end']));
    const { type, regex, callee } = value as { type?: string; regex?: Found['literal']; callee?: { name?: string } };
    if (type === 'Literal' && regex) found.push({ file, text, literal: regex });
    else if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp')
      found.push({ file, text });
    for (const [name, each] of Object.entries(value)) if (name !== 'regex') visit(each);
  };
  visit(parseAst(code, { lang: 'ts' }));
  return found;
}

const source = join(repositoryRoot, 'src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  name => name.endsWith('.ts') && !name.endsWith('.test.ts'),
);
const all = files.flatMap(file => patternsOf(file, readFileSync(join(source, file), 'utf8')));

test('finds all patterns of the sources', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(all.length).toBeGreaterThan(200);
});

test('every pattern takes linear time', () => {
  const risky = all.flatMap(({ file, text, literal }) => {
    if (literal === undefined || text in harmless) return [];
    const risk = patternRisk(literal.pattern, literal.flags);
    return risk === undefined ? [] : [`${file}: ${text}: ${risk}`];
  });
  expect(risky).toEqual([]);
});

test('every pattern built at run time is listed', () => {
  const counts = Map.groupBy(
    all.filter(({ literal }) => literal === undefined),
    ({ file }) => file,
  );
  const found = Object.fromEntries([...counts].map(([file, patterns]) => [file, patterns.length]));
  expect(found).toEqual(Object.fromEntries(dynamic.map(([file, count]) => [file, count])));
});

test('every listed exception exists', () => {
  const texts = new Set(all.map(({ text }) => text));
  expect(Object.keys(harmless).filter(text => !texts.has(text))).toEqual([]);
});

const risky = [
  /\s*\s*$/,
  /^\s*(.*)\s*$/,
  /^(a+)+$/,
  /^(a*)*b/,
  /^(?:a|a)*$/,
  /^(?:\w|\d)+!/,
  /^(.*)x(.*)y$/,
  /^\w+\d+!/,
  /^a{0,9999}a{0,9999}b/,
  /^(?:x+y?)+z/,
  /^(\d+\.?){1,9}!/,
  /\s+$/,
  /\s+(?=\S+=)/,
  /(a+b?)+c/i,
  /^\s*key/m,
  /a*b?a*c/,
  /[.-]+$/,
];
test.each(risky)('finds the risk of %s', pattern => {
  expect(patternRisk(pattern.source, pattern.flags)).toBeDefined();
});

const good = [
  /\s+/g,
  /^\s+$/,
  /^\s*(\d{1,6})(%?)\s*$/,
  /^\d+(\.\d+)?$/,
  /^(?:\\.|[^\\])*"/,
  /:(\d+)$/,
  /(^|\.)\d+$/,
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
  /\/\/[^\s/]*@/g,
  /^[ \t]*key/m,
  /#.*/,
  /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/,
  /\s+$/y,
];
test.each(good)('finds nothing wrong with %s', pattern => {
  expect(patternRisk(pattern.source, pattern.flags)).toBeUndefined();
});

const unknown = [/(a)\1/, /(?<x>a)\k<x>/];
test.each(unknown)('leaves %s to a human', pattern => {
  expect(() => patternRisk(pattern.source, pattern.flags)).toThrow('not known');
});
