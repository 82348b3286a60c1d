import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { instanceOf, nodeOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostViews } from './cluster-hosts.ts';

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
    /ConfigMap windows-instances in namespace ns again; .*kubectl delete node win-1/,
  );
});

test('does not advise to delete a Node when entries or Machines could not be read', () => {
  for (const unread of [['entries'], ['machines']] as const) {
    const [host] = hostViews(viewOf({ nodes: [nodeOf('win-1')], unread }));
    expect(host?.problem?.remedy).not.toMatch(/delete/);
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

test('every Windows Node has exactly one row', () => {
  const instances = [instanceOf('10.0.0.1', structuredClone(statuses.ready))];
  const nodes = ['win-1', 'win-2', 'win-3'].map(name => nodeOf(name));
  const rows = hostViews(viewOf({ instances, nodes })).map(({ nodeName }) => nodeName);
  expect(rows).toHaveLength(3);
  expect(new Set(rows)).toEqual(new Set(['win-1', 'win-2', 'win-3']));
});
