import { expect, test } from 'vitest';
import { problemsIn, printConditions, readConditions, suitabilityCondition } from './operator-status.ts';

const classE = { code: 'NETWORK_CLASS_E', message: 'network 240.0.0.0/8 -> is bad', remedy: 'Choose another.' };
const port = { code: 'NETWORK_VXLAN_PORT_TAKEN', message: 'port\n4789 is taken', remedy: 'Set it.' };

test('without problems the condition is True', () => {
  expect(suitabilityCondition([])).toMatchObject({
    type: 'ClusterSuitable',
    status: 'True',
    reason: 'AllChecksPassed',
  });
});

test('the condition names each problem with its remedy on a line', () => {
  expect(suitabilityCondition([classE, port])).toEqual({
    type: 'ClusterSuitable',
    status: 'False',
    reason: 'NETWORK_CLASS_E',
    message:
      'NETWORK_CLASS_E: network 240.0.0.0/8 -> is bad -> Choose another.\n' +
      'NETWORK_VXLAN_PORT_TAKEN: port 4789 is taken -> Set it.',
  });
});

test('problems are read as they were written', () => {
  const [condition] = readConditions(printConditions([suitabilityCondition([classE, port])]));
  expect(condition && problemsIn(condition)).toEqual([classE, { ...port, message: 'port 4789 is taken' }]);
});

test('a condition that is True has no problems', () => {
  expect(problemsIn(suitabilityCondition([]))).toEqual([]);
});

test('a message in another form is one problem', () => {
  const condition = { type: 'ClusterSuitable', status: 'False', reason: 'X', message: 'something is wrong' };
  expect(problemsIn(condition)).toEqual([{ code: 'X', message: 'something is wrong', remedy: '' }]);
});

test('long and many problems are cut', () => {
  const long = { code: 'NETWORK_CLASS_E', message: 'x'.repeat(10_000), remedy: 'y'.repeat(10_000) };
  const { message } = suitabilityCondition(Array.from({ length: 100 }, () => long));
  expect(message.length).toBeLessThan(50_000);
  expect(message.split('\n')).toHaveLength(20);
});

const foreign: [name: string, data: Record<string, unknown> | undefined][] = [
  ['no data', undefined],
  ['no conditions', {}],
  ['text that is not JSON', { conditions: 'x' }],
  ['another JSON value', { conditions: '{"type":"x"}' }],
  ['entries that are not conditions', { conditions: '[1, null, "x", {"type": 1}, {"type": "x"}]' }],
  ['a value that is not text', { conditions: 7 }],
  ['too much text', { conditions: `[${' '.repeat(200_000)}]` }],
];
for (const [name, data] of foreign)
  test(`reads ${name} as no conditions`, () => expect(readConditions(data)).toEqual([]));

test('members of conditions with other types are left out', () => {
  const conditions = '[{"type": "a", "status": "True", "reason": 1, "message": {}, "lastTransitionTime": []}]';
  expect(readConditions({ conditions })).toEqual([{ type: 'a', status: 'True' }]);
});
