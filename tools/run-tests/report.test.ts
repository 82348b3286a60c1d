import { expect, test } from 'vitest';
import { failedFiles, overall, type PartResult, printSummary, timeText } from './report.ts';

const passed = { status: 'passed', fullName: 'works' };

test('finds the files that failed, with titles and messages', () => {
  const report = {
    testResults: [
      { name: '/p/test/a.test.ts', status: 'passed', assertionResults: [passed] },
      {
        name: '/p/test/b.test.ts',
        status: 'failed',
        assertionResults: [
          passed,
          { status: 'failed', fullName: 'breaks', failureMessages: ['expected 1\n    at b:3\n    at node_modules/x'] },
        ],
      },
    ],
  };
  expect(failedFiles(report, '/p')).toEqual([
    { path: 'test/b.test.ts', failures: ['breaks\n    expected 1\n        at b:3'] },
  ]);
});

test('a file that could not be set up counts, although none of its tests failed', () => {
  const skipped = { status: 'skipped', fullName: 'waits', failureMessages: null };
  const results = [{ name: '/p/c.test.ts', status: 'failed', message: 'no cluster', assertionResults: [skipped] }];
  expect(failedFiles({ testResults: results }, '/p')).toEqual([{ path: 'c.test.ts', failures: ['    no cluster'] }]);
});

test('a file without results counts: its process died', () => {
  const results = [{ name: '/p/d.test.ts', status: 'passed', message: '', assertionResults: [] }];
  expect(failedFiles({ testResults: results }, '/p').map(({ path }) => path)).toEqual(['d.test.ts']);
});

const part = (name: string, more: Partial<PartResult> = {}): PartResult => ({
  name,
  outcome: 'passed',
  ms: 61_000,
  failed: [],
  flaky: [],
  ...more,
});
const file = { path: 'test/b.test.ts', failures: ['breaks\n    expected 1'] };

const runs: [title: string, results: PartResult[], outcome: string, inCi?: string][] = [
  ['all parts passed', [part('unit'), part('windows')], 'passed'],
  ['one failed', [part('unit', { outcome: 'failed' }), part('windows')], 'failed'],
  [
    'a flaky one',
    [part('windows', { outcome: 'passed, with flaky files', flaky: [file] })],
    'passed, with flaky files',
  ],
  ['one was not run', [part('unit'), part('windows', { outcome: 'not run', reason: 'no root' })], 'passed', 'failed'],
  ['flaky and failed', [part('unit', { outcome: 'failed', flaky: [file], failed: [file] })], 'failed'],
];
for (const [title, results, outcome, inCi = outcome] of runs) {
  test(`the whole run: ${title}`, () => {
    expect(overall(results, false)).toBe(outcome);
    expect(overall(results, true)).toBe(inCi);
  });
}

test('the summary ends with a table, and files that failed stand before it with what they said', () => {
  const results = [
    part('unit'),
    part('windows', { outcome: 'failed', ms: 5000, failed: [file] }),
    part('cluster', { outcome: 'not run', ms: 0, reason: 'needs root' }),
  ];
  const facts = { logFolder: 'logs/', ms: 62_000, isCi: false };
  expect(printSummary(results, facts).split('\n')).toEqual([
    '',
    'failed: test/b.test.ts',
    '  breaks',
    '    expected 1',
    '',
    '  unit        1 min 1 s  passed',
    '  windows           5 s  failed',
    '  cluster           0 s  not run: needs root',
    '  all         1 min 2 s  failed',
    '  output of each part: logs/',
  ]);
});

for (const [ms, text] of [
  [0, '0 s'],
  [59_400, '59 s'],
  [59_600, '1 min 0 s'],
  [605_000, '10 min 5 s'],
] as const) {
  test(`${ms} ms are ${text}`, () => expect(timeText(ms)).toBe(text));
}
