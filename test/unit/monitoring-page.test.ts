import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordingRules } from '../../src/install/recording-rules.ts';
import { repositoryRoot as root } from '../kit/run-wmco.ts';

const page = readFileSync(join(root, 'docs', 'monitoring.md'), 'utf8');
const words = new Set([...page.matchAll(/`([\w:]+)`/g)].map(([, word = '']) => word));

/** Metrics are objects with a name and a help text. */
const metrics = new Set(
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap(name => [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/name: '(\w+)',\s+help:/g)])
    .map(([, name = '']) => name),
);

test('the monitoring page names every record of the rules', () => {
  expect(recordingRules.map(({ record }) => record).filter(record => !words.has(record))).toEqual([]);
});

test('every metric of the operator on the monitoring page exists', () => {
  const isOfOperator = (word: string) => /^(wmco|controller_runtime|workqueue|events|process|nodejs)_/.test(word);
  const named = [...words].filter(isOfOperator);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter(name => !metrics.has(name))).toEqual([]);
});
