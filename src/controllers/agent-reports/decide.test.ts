import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentReport, emptyReport, parseReport, printReport, type ReportEvent } from '#contract/agent-report.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { ConfigMap } from '#kube/resources.ts';
import { knownVersions, mirrorMarks, newEvents, newReport, repairOf, reportLabels } from './decide.ts';

const clean = newReport('win-5', 'wmco');
const withMetadata = (metadata: object): ConfigMap => ({ ...clean, metadata: { ...clean.metadata, ...metadata } });
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u' };

test('a new report is empty and bears the label of the operator', () => {
  expect(clean.metadata).toEqual({ name: 'wicd-report-win-5', namespace: 'wmco', labels: reportLabels });
  expect(parseReport(clean.data)).toEqual(emptyReport);
});

test('the report of a long name is named by its hash', () => {
  expect(newReport('a'.repeat(250), 'wmco').metadata.name).toMatch(/^wicd-long-report-[0-9a-f]{40}$/);
});

const clear: [string, ConfigMap][] = [
  ['a report as the operator made it', clean],
  ['one as the server has it', withMetadata({ uid: 'u', resourceVersion: '5', managedFields: [{}], finalizers: [] })],
  ['one that the agent has filled', { ...clean, data: { version: 'v1', other: 'x' } }],
];
for (const [name, report] of clear) {
  test(`has no repair for ${name}`, () => expect(repairOf(report)).toEqual({ do: 'none' }));
}

const foreign: [string, ConfigMap][] = [
  ['a finalizer', withMetadata({ finalizers: ['evil.example.com/keep'] })],
  ['an owner reference', withMetadata({ ownerReferences: [owner] })],
  ['a label', withMetadata({ labels: { ...reportLabels, 'app.kubernetes.io/part-of': 'wicd' } })],
  ['no label of ours', withMetadata({ labels: {} })],
  ['another value of our label', withMetadata({ labels: { 'app.kubernetes.io/managed-by': 'helm' } })],
  ['an annotation', withMetadata({ annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } })],
  ['binary data', Object.assign({}, clean, { binaryData: {} })],
  ['immutable: false', { ...clean, immutable: false }],
];
for (const [name, report] of foreign) {
  test(`removes ${name}, and keeps the data`, () => {
    const repair = repairOf(report);
    expect(repair).toEqual({ do: 'replace', report: clean });
    expect(repair.do === 'replace' && repairOf(repair.report)).toEqual({ do: 'none' });
  });
}

test('a report that cannot be changed any more is created again', () => {
  expect(repairOf({ ...clean, immutable: true })).toEqual({ do: 'recreate' });
  const held = withMetadata({ finalizers: ['evil.example.com/keep'] });
  expect(repairOf({ ...held, immutable: true })).toEqual({ do: 'recreate' });
});

const { version, rebootRequired } = nodeAnnotation;
const said = (over: Partial<AgentReport>): AgentReport => ({ ...emptyReport, ...over });
const known = knownVersions({ version: 'v1', upgrade: { from: 'v0', to: 'v1' } }, 'v2');
const mirrored: [string, AgentReport, Record<string, string>, Record<string, string | null>][] = [
  ['nothing of an empty report', said({}), {}, {}],
  ['the version', said({ version: 'v2' }), { [version]: 'v1' }, { [version]: 'v2' }],
  ['the version of a Node without one', said({ version: 'v2' }), {}, { [version]: 'v2' }],
  ['NODE-16: no version over one that a user has set', said({ version: 'v1' }), { [version]: 'invalidVersion' }, {}],
  [
    'the version over the former one, which its agent reported last',
    said({ version: 'v2' }),
    { [version]: 'v0' },
    { [version]: 'v2' },
  ],
  ['the version of a Node that claims this one', said({ version: 'v1' }), { [version]: 'v2' }, { [version]: 'v1' }],
  ['no version that is there', said({ version: 'v2' }), { [version]: 'v2', a: 'b' }, {}],
  ['no removal of a version that is not reported', said({}), { [version]: 'v1' }, {}],
  ['a reboot that is required', said({ rebootRequired: true }), {}, { [rebootRequired]: '' }],
  ['no reboot twice', said({ rebootRequired: true }), { [rebootRequired]: 'x' }, {}],
  ['a reboot that is not required any more', said({}), { [rebootRequired]: '' }, { [rebootRequired]: null }],
];
for (const [name, report, annotations, want] of mirrored) {
  test(`mirrors ${name}`, () => expect(mirrorMarks(report, annotations, known)).toEqual(want));
}

test('mirrors two annotations at most, whatever the report says', () => {
  const anyData = fc.dictionary(fc.constantFrom('version', 'rebootRequired', 'bootID', 'events', version), fc.string());
  fc.assert(
    fc.property(anyData, data => {
      const marks = mirrorMarks(parseReport(data), {}, known);
      for (const [name, value] of Object.entries(marks)) {
        expect([version, rebootRequired]).toContain(name);
        expect(value).toMatch(/^[\w.:+-]{0,128}$/);
      }
    }),
  );
});

const event = (message: string, time = '2026-03-01T12:00:00Z'): ReportEvent => ({
  type: 'Warning',
  reason: 'ServiceFailure',
  message,
  time,
});
const reportOf = (...events: ReportEvent[]) => ({ ...clean, data: printReport(said({ events })) });
const news: [string, ConfigMap | undefined, ReportEvent[], string[]][] = [
  ['all of a first report', undefined, [event('a'), event('b')], ['a', 'b']],
  ['none that was there before', reportOf(event('a')), [event('a')], []],
  ['one that came', reportOf(event('a')), [event('a'), event('b')], ['b']],
  ['one that is said again later', reportOf(event('a')), [event('a', '2026-03-01T13:00:00Z')], ['a']],
];
for (const [name, before, now, want] of news) {
  test(`new events: ${name}`, () => {
    expect(newEvents(before, said({ events: now })).map(({ message }) => message)).toEqual(want);
  });
}

const variables: [string, isOn: boolean, Partial<AgentReport>, want: object][] = [
  ['by default', false, { bootId: 'b2', variablesBoot: 'b2' }, {}],
  ['by the setting', true, { bootId: 'b2', variablesBoot: 'b2' }, { [rebootRequired]: '' }],
  ['by the setting, in an earlier boot', true, { bootId: 'b2', variablesBoot: 'b1' }, {}],
  ['by the setting, without changed variables', true, { bootId: 'b2' }, {}],
];
test.each(variables)('changed variables require a reboot %s', (_, rebootsForVariables, report, want) => {
  expect(mirrorMarks(said(report), {}, known, { rebootsForVariables })).toEqual(want);
});
