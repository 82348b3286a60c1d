import { expect, test } from 'vitest';
import { condition, hostIn, instanceOf, nodeOf, viewOf } from '../../../../test/kit/status-views.ts';
import { clusterLines } from './budget-lines.ts';

const since = '2026-07-01T12:00:00Z';
const grant = { instance: 'win-1', node: 'node-1', journey: 'remove', sinceMs: Date.parse(since) } as const;
const removed = { node: 'win-5', removed: since, address: '10.0.0.5', instance: 'win-5' };
const waiting = hostIn('ready', 'win-2', {
  conditions: [condition('Ready', 'True', 'WaitsForBudget', 'win-1 holds the budget')],
});

test('prints nothing while no host holds or waits for the budget', () => {
  expect(clusterLines(viewOf({ rollout: { maxUnavailable: '3' } }), [hostIn('ready')])).toEqual([]);
});

test('prints who holds the budget and who waits', () => {
  expect(clusterLines(viewOf({ grants: [grant] }), [waiting])).toEqual([
    '',
    'Budget: maxUnavailable is 1',
    '  win-1 holds it since 2026-07-01 12:00:00 UTC: remove of Node node-1',
    '  win-2 waits: win-1 holds the budget',
  ]);
});

test('prints the hosts that were removed by force and have no Node', () => {
  expect(clusterLines(viewOf({ removedHosts: [removed] }), [])).toEqual([
    '',
    'Removed by force, in ConfigMap windows-removed-hosts; if you have cleaned the host, forget it:',
    '  win-5 (10.0.0.5), 2026-07-01 12:00:00 UTC: `wmco remove --forget win-5`',
  ]);
  expect(clusterLines(viewOf({ removedHosts: [removed], nodes: [nodeOf('win-5')] }), [])).toEqual([]);
});

test('prints the roll-out above the budget until it has ended', () => {
  const host = (version: string) => instanceOf('win-1', { phase: 'Ready', version });
  const lines = (version: string, rollout = {}) =>
    clusterLines(viewOf({ operatorVersion: 'v2', instances: [host(version)], grants: [grant], rollout }), []);
  expect(lines('v1').slice(0, 5)).toEqual([
    '',
    'Roll-out of v2: 0 of 1 upgraded, 1 waiting',
    '  the others wait until 1 more host has soaked (first)',
    '',
    'Budget: maxUnavailable is 1',
  ]);
  expect(lines('v2')[1]).toBe('Budget: maxUnavailable is 1');
  expect(lines('v2', { paused: 'true' })[2]).toMatch(/^ {2}paused: /);
});

test('prints at most ten hosts that wait, and how many more', () => {
  const hosts = Array.from({ length: 1000 }, (_, index) => ({ ...waiting, name: `win-${index}` }));
  const lines = clusterLines(viewOf(), hosts);
  expect([lines.length, lines.at(-1)]).toEqual([13, '  … and 990 more wait']);
});
