import { expect, test } from 'vitest';
import { machineLabel, nodeAnnotation } from '#contract/names.ts';
import { instanceOf, machineOf, nodeOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostViews } from './cluster-hosts.ts';
import type { ClusterView } from './host-view.ts';

const address = [{ type: 'InternalIP', address: '10.0.0.9' }];

test('a Node without an instance has a row with a remedy when the operator configured it', () => {
  const [host] = hostViews(viewOf({ nodes: [nodeOf('win-1', { addresses: address })] }));
  expect(host).toMatchObject({
    name: 'win-1',
    address: '10.0.0.9',
    phase: 'Unmanaged',
    tone: 'bad',
    nodeName: 'win-1',
    source: { kind: 'Node', name: 'win-1' },
    problem: { code: 'NodeUnmanaged' },
  });
  expect(host?.problem?.remedy).toMatch(
    /`10\.0\.0\.9: username=NAME` to ConfigMap windows-instances in namespace ns again; to remove it, run `wmco remove win-1 --username NAME`\./,
  );
});

test('does not advise to delete a Node when something was not read or no operator runs', () => {
  for (const over of [{ unread: ['entries'] }, { unread: ['machines'] }, { isOperatorRunning: false }] as const) {
    const [host] = hostViews(viewOf({ nodes: [nodeOf('win-1')], ...over }));
    expect(host?.problem?.remedy).toMatch(/^To keep it/);
    expect(host?.problem?.remedy).not.toMatch(/wmco remove/);
  }
});

test('a Windows Node of another operator is listed and is no problem', () => {
  const nodes = [nodeOf('other', { annotations: {} }), nodeOf('down', { annotations: {}, ready: false })];
  expect(hostViews(viewOf({ nodes })).map(({ name, tone, note }) => [name, tone, note])).toEqual([
    ['down', 'idle', 'not Ready; this operator did not configure it'],
    ['other', 'idle', 'Ready; this operator did not configure it'],
  ]);
});

test('a Node that was adopted before by annotation only counts as configured', () => {
  const nodes = [nodeOf('old', { annotations: { [nodeAnnotation.pubKeyHash]: 'x' } })];
  expect(hostViews(viewOf({ nodes }))[0]?.tone).toBe('bad');
});

test('a Node that registered again after a removal by force is a problem', () => {
  const note = { node: 'win-1', removed: '2026-07-01T12:00:00Z', address: '10.0.0.9', instance: 'win-1' };
  const view = viewOf({ nodes: [nodeOf('win-1')], removedHosts: [note] });
  expect(hostViews(view)[0]).toMatchObject({
    phase: 'RemovedByForce',
    tone: 'bad',
    problem: {
      code: 'NodeRemovedByForce',
      message: expect.stringMatching(/removed by force on 2026-07-01$/) as string,
    },
  });
  const listed = { ...view, instances: [instanceOf('10.0.0.9', structuredClone(statuses.ready))] };
  expect(hostViews(listed).map(({ phase }) => phase)).toEqual(['Ready']);
});

test('every Windows Node has exactly one row', () => {
  const instances = [instanceOf('10.0.0.1', structuredClone(statuses.ready))];
  const nodes = ['win-1', 'win-2', 'win-3'].map(name => nodeOf(name));
  const rows = hostViews(viewOf({ instances, nodes })).map(({ nodeName }) => nodeName);
  expect(rows).toHaveLength(3);
  expect(new Set(rows)).toEqual(new Set(['win-1', 'win-2', 'win-3']));
});

const address9 = [{ type: 'InternalIP', address: '10.0.0.9' }];
const related: [what: string, view: Partial<ClusterView>, note: RegExp][] = [
  ['an instance that is not recorded yet', { instances: [instanceOf('10.0.0.9')] }, /of host 10\.0\.0\.9$/],
  ['an entry without an instance', { entries: { '10.0.0.9': 'username=x' } }, /of host 10\.0\.0\.9$/],
  ['an entry with its name', { entries: { 'WIN-1': 'username=x' } }, /of host win-1$/],
  [
    'a Machine that is ignored',
    {
      machines: [
        {
          ...machineOf('m1', 'Running', { labels: { [machineLabel.ignore]: 'true' } }),
          status: { addresses: address9 },
        },
      ],
    },
    /of Machine m1, which the operator ignores$/,
  ],
];
for (const [what, view, note] of related) {
  test(`a Node that may be that of ${what} is no problem`, () => {
    const hosts = hostViews(viewOf({ nodes: [nodeOf('win-1', { addresses: address9 })], ...view }));
    const host = hosts.find(({ source }) => source.kind === 'Node');
    expect(host).toMatchObject({ tone: 'idle', problem: undefined, note: expect.stringMatching(note) as string });
  });
}

test('does not advise to delete a Node while a host without a Node may be its host', () => {
  const view = viewOf({ nodes: [nodeOf('win-1')], entries: { 'other.example.com': 'username=x' } });
  const host = hostViews(view).find(({ source }) => source.kind === 'Node');
  expect(host).toMatchObject({ tone: 'bad', problem: { code: 'NodeUnmanaged' } });
  expect(host?.problem?.remedy).not.toMatch(/wmco remove/);
});
