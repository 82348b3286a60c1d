import { expect, test } from 'vitest';
import type { NodeView } from '#contract/node.ts';
import type { Wait } from '../decide.ts';
import { restConditions } from './health-report.ts';

const node: NodeView = {
  name: 'win-1',
  uid: 'u1',
  labels: {},
  annotations: {},
  addresses: [],
  ready: false,
  unschedulable: false,
};
const rollback: Wait = { journey: 'rollback', cause: 'rollback 2 -> 1: UPGRADE_UNHEALTHY', why: 'ahead: win-2' };
const rows: [title: string, waits: Wait[], messages: string[]][] = [
  [
    'a rollback that waits',
    [rollback],
    ['Node win-1 is not ready; rollback 2 -> 1: UPGRADE_UNHEALTHY waits: ahead: win-2'],
  ],
  ['nothing else', [{ journey: 'upgrade', cause: 'upgrade 1 -> 2', why: 'ahead: win-2' }], []],
];
for (const [title, waits, messages] of rows) {
  test(`a node that is not ready also reports ${title}`, () => {
    const conditions = restConditions({ node, recorded: '1' }, { change: status => status }, waits);
    expect(conditions.map(({ message }) => message)).toEqual(messages);
    for (const condition of conditions)
      expect(condition).toMatchObject({ type: 'Ready', status: 'False', reason: 'NodeNotReady' });
  });
}
