import { expect, test } from 'vitest';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { condition, instanceOf, nodeOf, viewOf } from '../../../../test/kit/status-views.ts';
import { withAdvice } from './advice.ts';
import { hostOfInstance } from './instance-host.ts';

const [joined, ready] = [condition('Configured', 'True', 'Joined'), condition('Ready', 'True', 'Joined')];
const outdated = condition('KeyCurrent', 'False', 'HOST_KEY_OUTDATED', 'It uses a former key. Run `add`.');
const unreachable = condition('KubeletReachable', 'False', 'KUBELET_UNREACHABLE', 'No logs. Open the port.');

function hostWith(phase: WindowsInstanceStatus['phase'], ...conditions: unknown[]) {
  const status = { node: 'win-1', phase, conditions } as WindowsInstanceStatus;
  return withAdvice(hostOfInstance(instanceOf('win-1', status), viewOf({ nodes: [nodeOf('win-1')] })));
}

const rows: [name: string, conditions: unknown[], want: [note?: string, code?: string]][] = [
  ['that lacks nothing', [joined, ready], []],
  ['with a former key', [joined, ready, outdated], ['uses a former SSH key', 'HOST_KEY_OUTDATED']],
  ['without logs', [joined, ready, unreachable], ['kubelet not reachable', 'KUBELET_UNREACHABLE']],
  ['that lacks both', [joined, ready, unreachable, outdated], ['uses a former SSH key', 'HOST_KEY_OUTDATED']],
  ['that accepts the key again', [joined, ready, condition('KeyCurrent', 'True', 'KeyAccepted')], []],
];
for (const [name, conditions, want] of rows) {
  test(`a host ${name} has ${want[0] === undefined ? 'no advice' : `the advice: ${want[0]}`}`, () => {
    const { note, problem, tone } = hostWith('Ready', ...conditions);
    expect([note, problem?.code]).toEqual([want[0], want[1]]);
    expect(tone).toBe('good');
    if (problem !== undefined) expect(`${problem.message}${problem.remedy}`).toMatch(/^(It uses|No logs)[^]*\.$/);
  });
}

test('another problem comes first', () => {
  const failed = condition('Ready', 'False', 'HOST_UNREACHABLE', 'It does not answer. Start it.');
  expect(hostWith('Failed', failed, outdated).problem?.code).not.toBe('HOST_KEY_OUTDATED');
});
