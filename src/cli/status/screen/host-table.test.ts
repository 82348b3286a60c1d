/* oxlint-disable no-control-regex -- escapes are what is looked for */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { hostIn, longName, nodeOf, noonMs, type StateName, statuses } from '../../../../test/kit/status-views.ts';
import { countsLine, detailOf, hostTable, versionText } from './host-table.ts';
import { problemBlocks, problemText } from './problems.ts';
import { printTable } from './table.ts';
import { paintFor } from './paint.ts';
import { widthOf } from './text-width.ts';

const nowMs = noonMs + 20_000;
const colors = paintFor({ size: () => ({ columns: 80, rows: 24 }), environment: {} });
const all = (Object.keys(statuses) as StateName[]).map((state, index) => hostIn(state, `10.0.0.${index + 1}`));

test('the table has a heading and one line for each host', () => {
  const hosts = [hostIn('ready', '10.0.0.1'), hostIn('configuring', '10.0.0.2'), hostIn('failed', '10.0.0.3')];
  expect(hostTable(hosts, { nowMs })).toEqual([
    'HOST      NODE   PHASE        STEP            TIME  DETAIL',
    '10.0.0.1  win-1  Ready                        12 s',
    '10.0.0.2         Configuring  stage programs  20 s  3.0 of 6.0 MB (50 %)',
    '10.0.0.3         Failed       connect         20 s  HOST_REFUSED_KEY, 3 attempts',
  ]);
});

test('shows addresses only when they differ from the names', () => {
  const named = hostIn('ready', 'win-1', { address: '10.0.0.1' });
  expect(hostTable([named], { nowMs })[1]).toMatch(/^win-1  10\.0\.0\.1  win-1  Ready/);
  expect(hostTable([hostIn('ready')], { nowMs })[0]).not.toContain('ADDRESS');
  expect(hostTable([hostIn('ready', 'WIN1', { address: 'win1.' })], { nowMs })[0]).not.toContain('ADDRESS');
  const [, , second] = hostTable([named, hostIn('ready', '10.0.0.2')], { nowMs });
  expect(second).toMatch(/^10\.0\.0\.2 +win-1 +Ready/);
});

test('an empty table has only a heading', () => {
  expect(hostTable([], { nowMs })).toEqual(['HOST  NODE  PHASE  STEP  TIME  DETAIL']);
});

const details: [StateName, string][] = [
  ['fresh', ''],
  ['configuring', '3.0 of 6.0 MB (50 %)'],
  ['waiting', 'the kubelet registers its Node (usually 30 s, limit 10 min)'],
  ['slow', 'the kubelet registers its Node (usually 30 s, limit 10 min)'],
  ['failed', 'HOST_REFUSED_KEY, 3 attempts'],
  ['retrying', 'HOST_REFUSED_KEY, 4 attempts'],
  ['booting', 'may need more time (HOST_UNREACHABLE)'],
  ['ready', ''],
  ['nodeNotReady', 'NodeNotReady'],
  ['refused', 'INSTANCE_DUPLICATE'],
  ['paused', 'spec.paused is true'],
];
for (const [state, want] of details) {
  test(`the detail of a host that is ${state} is "${want}"`, () => expect(detailOf(hostIn(state))).toBe(want));
}

test('does not mention a single attempt', () => {
  expect(detailOf(hostIn('failed', 'a', { attempts: 1 }))).toBe('HOST_REFUSED_KEY');
});

test('hides the least important columns first on narrow terminals', () => {
  const hosts = [hostIn('failed', 'win-1', { address: '10.0.0.1', nodeName: 'win-1' })];
  const titles = (columns: number) => hostTable(hosts, { nowMs, columns })[0]?.trim().split(/\s+/);
  expect(titles(200)).toEqual(['HOST', 'ADDRESS', 'NODE', 'PHASE', 'STEP', 'TIME', 'DETAIL']);
  expect(titles(54)).toEqual(['HOST', 'NODE', 'PHASE', 'STEP', 'TIME', 'DETAIL']);
  expect(titles(44)).toEqual(['HOST', 'PHASE', 'STEP', 'TIME', 'DETAIL']);
  expect(titles(36)).toEqual(['HOST', 'PHASE', 'STEP', 'DETAIL']);
  expect(titles(28)).toEqual(['HOST', 'PHASE', 'DETAIL']);
});

test('the table is never wider than the terminal', () => {
  const hosts = [...all, hostIn('failed', longName), hostIn('ready', 'Würfel-東京-🙂', { note: 'é'.repeat(300) })];
  for (let columns = 1; columns <= 200; columns += 1) {
    for (const paint of [undefined, colors]) {
      const lines = hostTable(hosts, { nowMs, columns, ...(paint && { paint }) });
      expect(Math.max(...lines.map(widthOf)), `${columns} columns`).toBeLessThanOrEqual(columns);
      expect(lines).toHaveLength(hosts.length + 1);
    }
  }
});

test('aligns columns for names in any script', () => {
  const hosts = ['win', 'Würfel', '東京', 'Wu\u0308rfel'].map(name => hostIn('ready', name));
  const lines = hostTable(hosts, { nowMs }).slice(1);
  const places = lines.map(line => widthOf(line.slice(0, line.indexOf('Ready'))));
  expect(new Set(places).size).toBe(1);
});

test('foreign texts contain no control characters and no line breaks', () => {
  const evil = 'a\u001b[2J\u0007b\r\nc\u009b31m';
  const hosts = [hostIn('waiting', evil, { note: evil, nodeName: evil, phase: evil })];
  const lines = hostTable(hosts, { nowMs });
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});

test('colors show the phase and change no text', () => {
  const plainLines = hostTable(all, { nowMs });
  const painted = hostTable(all, { nowMs, paint: colors });
  expect(painted.map(line => line.replaceAll(/\u001b\[\d+m/g, '').trimEnd())).toEqual(plainLines);
  expect(painted.find(line => line.includes('Duplicate'))).toContain('\u001b[31mDuplicate');
  expect(painted.find(line => line.includes('Paused'))).toContain('\u001b[35mPaused');
});

test('a table of any content has aligned columns', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 30 });
  fc.assert(
    fc.property(
      fc.array(fc.record({ a: text, b: text, phase: text })),
      fc.integer({ min: 1, max: 100 }),
      (rows, columns) => {
        const lines = printTable(
          [
            { name: 'a', title: 'A', hideOrder: 1 },
            { name: 'phase', title: 'P' },
            { name: 'b', title: 'B' },
          ],
          rows,
          { columns },
        );
        expect(lines).toHaveLength(rows.length + 1);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      },
    ),
    { numRuns: 500 },
  );
});

const counts: [StateName[], string][] = [
  [[], '0 hosts'],
  [['ready'], '1 host: 1 Ready'],
  [
    ['ready', 'ready', 'configuring', 'failed', 'paused'],
    '5 hosts: 2 Ready, 1 in progress, 1 with a problem, 1 paused',
  ],
  [['booting', 'fresh'], '2 hosts: 2 in progress'],
  [['ready', 'slow'], '2 hosts: 1 Ready, 1 slow'],
  [['ready', 'refused'], '1 host: 1 Ready; 1 duplicate'],
];
for (const [states, want] of counts) {
  test(`counts ${JSON.stringify(states)}`, () => expect(countsLine(states.map(state => hostIn(state)))).toBe(want));
}

test('prints problems and remedies only of hosts with a problem', () => {
  expect(problemBlocks([hostIn('ready'), hostIn('booting'), hostIn('failed', '10.0.0.3')], {}).flat()).toEqual([
    '10.0.0.3: HOST_REFUSED_KEY',
    '  the host does not let us in',
    '  -> Put the key there.',
  ]);
});

test('omits the arrow when the remedy is empty', () => {
  expect(problemBlocks([hostIn('refused', 'a')], {}).flat()).toEqual([
    'a: INSTANCE_DUPLICATE',
    '  another is the same host. Remove one.',
  ]);
});

test('wraps and indents long texts at any width', () => {
  const problem = { code: 'X', message: 'one two three four five six', remedy: 'seven eight nine ten eleven twelve' };
  expect(problemText('a', problem, { columns: 25 })).toEqual([
    'a: X',
    '  one two three four',
    '  five six',
    '  -> seven eight nine ten',
    '     eleven twelve',
  ]);
  expect(problemText('a', problem, { columns: 3 }).length).toBeGreaterThan(3);
});

const versions: [string, Record<string, string>, string][] = [
  ['nothing is known', {}, 'none yet'],
  ['the first one is being installed', { [nodeAnnotation.desiredVersion]: 'v2' }, 'none yet, desired v2'],
  ['it has what it should', { [nodeAnnotation.version]: 'v2', [nodeAnnotation.desiredVersion]: 'v2' }, 'v2'],
  ['no other is desired', { [nodeAnnotation.version]: 'v1' }, 'v1'],
  ['it is upgraded', { [nodeAnnotation.version]: 'v1', [nodeAnnotation.desiredVersion]: 'v2' }, 'v1, desired v2'],
];
for (const [name, annotations, want] of versions) {
  test(`shows the version when ${name}`, () => expect(versionText(nodeOf('a', { annotations }))).toBe(want));
}
