import { expect, test } from 'vitest';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { emptyReport, maxReportBytes, printReport, type ReportEvent, reportName } from '#contract/agent-report.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { agent, begin, beginWithReport, namespace } from '../../../test/kit/report-bench.ts';
import { until } from '../../../test/kit/until.ts';
import { newReport, reportLabels } from './decide.ts';

const { version, rebootRequired } = nodeAnnotation;
const event = (message: string): ReportEvent => ({
  type: 'Warning',
  reason: 'ServiceFailure',
  message,
  time: '2026-03-01T12:00:00Z',
});
const remarksOf = (...messages: string[]) => ({
  data: { events: printReport({ ...emptyReport, events: messages.map(event) })['events'] ?? '' },
});

test('records no event that is about an earlier Node of the name', async () => {
  const bench = await beginWithReport();
  const { uid = '' } = (await bench.client.get(nodes, 'win-1')).metadata;
  const stale = remarksOf('stale');
  await bench.write('win-1', { data: { ...stale.data, nodeUID: 'former', version: 'v1' } });
  await until(async () => (await bench.marks('win-1'))[version] === 'v1');
  await bench.write('win-1', { data: { ...remarksOf('present').data, nodeUID: uid } });
  await until(() => bench.events.length > 0);
  expect(bench.events.join()).not.toContain('stale');
});

test('makes the report of a host once its Node is known, and makes it again when it is deleted', async () => {
  const bench = await beginWithReport();
  expect(await bench.report('win-1')).toMatchObject({ data: newReport('win-1', namespace).data });
  await bench.client.delete(configMaps, reportName('win-1'), { namespace });
  await until(() => bench.report('win-1'));
});

test('makes no report for a host that has yet to join, nor for a Node without an instance', async () => {
  const bench = await begin();
  bench.start();
  await bench.addNode('lone');
  await bench.bind('win-1', { agent, node: 'other' });
  await bench.bind('win-2');
  await until(() => bench.report('win-2'));
  expect([await bench.report('win-1'), await bench.report('lone'), await bench.report('other')]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('mirrors version and required reboot to the own Node only', async () => {
  const bench = await beginWithReport();
  await bench.addNode('win-2', { [rebootRequired]: '' });
  await bench.write('win-1', { data: { version: 'v2', rebootRequired: 'true', node: 'win-2' } });
  await until(async () => (await bench.marks('win-1'))[version] === 'v2');
  expect(await bench.marks('win-1')).toEqual({ [version]: 'v2', [rebootRequired]: '' });
  await bench.write('win-1', { data: { rebootRequired: 'false' } });
  await until(async () => !(rebootRequired in (await bench.marks('win-1'))));
  expect(await bench.marks('win-2')).toEqual({ [rebootRequired]: '' });
});

test('restores what the report says when the Node says otherwise', async () => {
  const bench = await beginWithReport();
  await bench.write('win-1', { data: { version: 'v2' } });
  await until(async () => (await bench.marks('win-1'))[version] === 'v2');
  const body = { metadata: { annotations: { [version]: 'other', [rebootRequired]: '' } } };
  await bench.client.patch(nodes, 'win-1', { type: 'merge', body });
  await until(async () => (await bench.marks('win-1'))[version] === 'v2');
  expect(await bench.marks('win-1')).toEqual({ [version]: 'v2' });
});

test('does not mirror to a Node that was made again, until that one is recorded', async () => {
  const bench = await begin();
  bench.start();
  await bench.addNode('win-1');
  await bench.bind('win-1', { agent, nodeUID: 'former' });
  await until(() => bench.report('win-1'));
  await bench.write('win-1', { data: { version: 'v2' } });
  await bench.addNode('win-2');
  await bench.bind('win-2');
  await until(() => bench.report('win-2'));
  await bench.write('win-2', { data: { version: 'v2' } });
  await until(async () => (await bench.marks('win-2'))[version] === 'v2');
  expect(await bench.marks('win-1')).toEqual({});
  const { uid } = (await bench.client.get(nodes, 'win-1')).metadata;
  const body = { status: { nodeUID: uid } };
  await bench.client.patch(
    windowsInstances,
    'instance-win-1',
    { type: 'merge', body },
    { namespace, subresource: 'status' },
  );
  await until(async () => (await bench.marks('win-1'))[version] === 'v2');
});

test('leaves the Node of an agent of the Go operator alone: it writes there itself', async () => {
  const bench = await begin();
  bench.start();
  await bench.addNode('win-1', { [version]: 'go', [rebootRequired]: '' });
  await bench.bind('win-1', {});
  await bench.bind('win-2');
  await until(() => bench.report('win-1'));
  await bench.write('win-1', { data: { version: 'v2' } });
  await bench.addNode('win-2');
  await until(() => bench.report('win-2'));
  await bench.write('win-2', { data: { version: 'v2' } });
  await until(async () => (await bench.marks('win-2'))[version] === 'v2');
  expect(await bench.marks('win-1')).toEqual({ [version]: 'go', [rebootRequired]: '' });
});

test('records each event once as an event on the Node, also after a restart', async () => {
  const bench = await begin();
  const first = bench.start();
  await bench.addNode('win-1');
  await bench.bind('win-1');
  await until(() => bench.report('win-1'));
  await bench.write('win-1', remarksOf('one'));
  await until(() => bench.events.length === 1);
  await bench.write('win-1', { data: { version: 'v1' } });
  await bench.write('win-1', remarksOf('one', 'two'));
  await until(() => bench.events.length === 2);
  await first.stop();
  bench.start();
  await bench.write('win-1', remarksOf('one', 'two', 'three'));
  await bench.write('win-1', { data: { version: 'v2' } });
  await until(async () => (await bench.marks('win-1'))[version] === 'v2');
  await bench.write('win-1', remarksOf('one', 'two', 'three', 'four'));
  await until(() => bench.events.some(line => line.includes('four')));
  const said = (message: string) => `Warning Node win-1 ServiceFailure: windows-instance-config-daemon: ${message}`;
  expect(bench.events.filter(line => line !== said('three'))).toEqual(['one', 'two', 'four'].map(said));
});

test('what an agent events is one line of plain text in events', async () => {
  const bench = await beginWithReport();
  await bench.write('win-1', { data: { version: 'v1' } });
  await bench.write('win-1', remarksOf('\u001b[2Jgone\r\nsecond \u202eline'));
  await until(() => bench.events.length === 1);
  expect(bench.events[0]).toMatch(/: \\u001b\[2Jgone second \\u202eline$/);
});

const finalizers = ['evil.example.com/keep'];
const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'u', blockOwnerDeletion: true }];
const attacks: [string, object][] = [
  ['a finalizer', { metadata: { finalizers } }],
  ['an owner reference', { metadata: { ownerReferences } }],
  ['a label', { metadata: { labels: { 'app.kubernetes.io/part-of': 'wicd' } } }],
  ['an annotation', { metadata: { annotations: { a: 'b' } } }],
  ['binary data', { binaryData: { a: 'AAAA' } }],
  ['immutability', { immutable: true }],
  ['all at once', { metadata: { finalizers, ownerReferences, labels: { a: 'b' } }, binaryData: {}, immutable: true }],
];
for (const [name, body] of attacks) {
  test(`removes ${name} from a report at once, and continues with it`, async () => {
    const bench = await beginWithReport();
    await bench.write('win-1', { data: { version: 'v1' } });
    await bench.write('win-1', body);
    const isClean = async () => {
      const { metadata, ...rest } = (await bench.report('win-1')) ?? { metadata: {} };
      const { finalizers: kept = [], ownerReferences: owners = [], labels, annotations = {} } = metadata;
      const isPlain = !('binaryData' in rest) && !('immutable' in rest) && metadata.uid !== undefined;
      const isBare = kept.length + owners.length + Object.keys(annotations).length === 0;
      return isPlain && isBare && JSON.stringify(labels) === JSON.stringify(reportLabels);
    };
    await until(isClean);
    await bench.write('win-1', { data: { version: 'v2' } });
    await until(async () => (await bench.marks('win-1'))[version] === 'v2');
    expect(bench.logged.messages('error')).toEqual([]);
  });
}

test('ignores a report of more than 16 KiB, and reads the next one', async () => {
  const bench = await beginWithReport();
  await bench.write('win-1', { data: { version: 'v1', more: 'x'.repeat(maxReportBytes) } });
  await bench.addNode('win-2');
  await bench.bind('win-2');
  await until(() => bench.report('win-2'));
  expect(await bench.marks('win-1')).toEqual({});
  await bench.write('win-1', { data: { more: null } });
  await until(async () => (await bench.marks('win-1'))[version] === 'v1');
});

const long = `${'a'.repeat(60)}.`.repeat(5).slice(0, 250).replace(/\.$/, 'b');

for (const node of ['win-1', long]) {
  test(`deletes the report when the instance is gone, for a name of ${node.length} characters`, async () => {
    const bench = await beginWithReport(node);
    await bench.client.delete(windowsInstances, `instance-${node}`.slice(0, 200), { namespace });
    await until(async () => (await bench.report(node)) === undefined);
  });

  test(`deletes what an instance has left while the operator was down, for a name of ${node.length} characters`, async () => {
    const bench = await begin();
    await bench.client.create(configMaps, newReport(node, namespace));
    bench.start();
    await until(async () => (await bench.report(node)) === undefined);
  });
}

for (const node of ['win-1', long]) {
  test(`keeps the report of an orphan Node until the Node is deleted, for a name of ${node.length} characters`, async () => {
    const bench = await begin();
    const labels = { [nodeLabel.os]: 'windows' };
    await bench.client.create(nodes, { metadata: { name: node, labels, annotations: { [version]: 'v1' } } });
    await bench.client.create(configMaps, newReport(node, namespace));
    await bench.write(node, { data: { version: 'v1' }, metadata: { finalizers } });
    bench.start();
    await until(async () => (await bench.report(node))?.metadata.finalizers === undefined);
    expect((await bench.report(node))?.data).toMatchObject({ version: 'v1' });
    await bench.client.delete(nodes, node);
    await until(async () => (await bench.report(node)) === undefined);
  });
}

test('keeps reports while the operator is being uninstalled', async () => {
  const bench = await begin();
  bench.uninstall = 'Namespace wmco is being deleted';
  for (const node of ['win-1', long]) await bench.client.create(configMaps, newReport(node, namespace));
  bench.start();
  await bench.client.create(nodes, { metadata: { name: 'other' } });
  await until(async () => bench.logged.lines.filter(each => each.message === 'Requeued').length >= 2);
  for (const node of ['win-1', long]) expect(await bench.report(node)).toBeDefined();
});

const keeping: [string, object][] = [
  ['a finalizer', { metadata: { finalizers } }],
  ['an owner reference', { metadata: { ownerReferences } }],
  ['a finalizer and immutability', { metadata: { finalizers }, immutable: true }],
];
for (const [name, body] of keeping) {
  for (const node of ['win-1', long]) {
    test(`deletes a report with ${name} that was left while the operator was down, for a name of ${node.length} characters`, async () => {
      const bench = await begin();
      await bench.client.create(configMaps, newReport(node, namespace));
      await bench.write(node, body);
      bench.start();
      await until(async () => (await bench.report(node)) === undefined);
      expect(bench.logged.messages('error')).toEqual([]);
    });
  }
}

test('deletes a report that a finalizer keeps although it is deleted already', async () => {
  const bench = await begin();
  await bench.client.create(configMaps, newReport('win-1', namespace));
  await bench.write('win-1', { metadata: { finalizers } });
  await bench.client.delete(configMaps, reportName('win-1'), { namespace });
  expect((await bench.report('win-1'))?.metadata.deletionTimestamp).toBeDefined();
  bench.start();
  await until(async () => (await bench.report('win-1')) === undefined);
});

test('repairs the report of a host whose Node is not known yet', async () => {
  const bench = await begin();
  await bench.client.create(configMaps, newReport('win-1', namespace));
  await bench.write('win-1', { metadata: { finalizers } });
  await bench.bind('win-1', { agent, node: 'other' });
  bench.start();
  await until(async () => (await bench.report('win-1'))?.metadata.finalizers === undefined);
  expect(await bench.report('win-1')).toBeDefined();
});

test('mirrors the report of a long name', async () => {
  const bench = await beginWithReport(long);
  await bench.write(long, { data: { version: 'v2' } });
  await until(async () => (await bench.marks(long))[version] === 'v2');
});

test('touches no other ConfigMap', async () => {
  const bench = await begin();
  const metadata = { name: 'windows-instances', namespace, annotations: { a: 'b' }, finalizers };
  const before = await bench.client.create(configMaps, { metadata, data: { '10.0.0.5': 'username=x' } });
  bench.start();
  await bench.bind('win-1');
  await until(() => bench.report('win-1'));
  expect(await bench.client.get(configMaps, 'windows-instances', { namespace })).toEqual(before);
});
