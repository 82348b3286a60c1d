import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AgentReport,
  emptyReport,
  isReportName,
  maxReportBytes,
  parseReport,
  printReport,
  reportName,
} from './agent-report.ts';

const event = {
  type: 'Warning',
  reason: 'ServiceFailure',
  message: 'kubelet',
  time: '2026-01-01T00:00:00.000Z',
} as const;
const full: AgentReport = {
  version: '11.0.0-abc',
  bootId: '17',
  nodeUid: 'uid-1',
  confirmedBoot: '16',
  rebootRequired: true,
  services: `v1:${'a'.repeat(32)}:${'b'.repeat(32)}`,
  variablesBoot: 'boot-1',
  events: [event],
};

test('reads what it prints', () => {
  for (const report of [emptyReport, full]) expect(parseReport(printReport(report))).toEqual(report);
});

const bad: [string, Record<string, string>, Partial<AgentReport>][] = [
  ['nothing', {}, {}],
  ['a version with a line break', { version: 'a\nb' }, {}],
  ['a version that is too long', { version: 'a'.repeat(200) }, {}],
  ['events that are not JSON', { events: '[' }, {}],
  ['events that are no list', { events: '{}' }, {}],
  ['a event of another type', { events: JSON.stringify([{ ...event, type: 'Error' }]) }, {}],
  ['a reason with a blank', { events: JSON.stringify([{ ...event, reason: 'a b' }]) }, {}],
  ['a time that is none', { events: JSON.stringify([{ ...event, time: 'now' }]) }, {}],
  ['a good event beside bad ones', { events: JSON.stringify([1, null, event]) }, { events: [event] }],
];
for (const [title, data, want] of bad) {
  test(`reads ${title}`, () => expect(parseReport(data)).toEqual({ ...emptyReport, ...want }));
}

test('limits the size of a report', () => {
  const events = Array.from({ length: 500 }, () => ({ ...event, message: 'x'.repeat(5000) }));
  const data = printReport({ ...full, events });
  expect(JSON.stringify(data).length).toBeLessThan(maxReportBytes);
  expect(parseReport(data).events).toHaveLength(10);
});

test('parses any data without failing', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('version', 'bootID', 'events', 'x'), fc.string()), data => {
      parseReport(data);
    }),
  );
});

test('names one ConfigMap per Node, also for the longest names', () => {
  const label = (letter: string) => letter.repeat(63);
  const long = (letter: string) => [label('a'), label('b'), label('c'), letter.repeat(61)].join('.');
  expect(reportName('win-1')).toBe('wicd-report-win-1');
  const names = [long('d'), long('e'), 'win-1', reportName(long('d')).replace('wicd-long-report-', '')].map(reportName);
  expect(new Set(names).size).toBe(4);
  for (const name of names) {
    expect(name.length).toBeLessThanOrEqual(253);
    expect(isReportName(name)).toBe(true);
  }
});
