import { expect, test } from 'vitest';
import { at, failure, hostIn, nodeOf, type StateName, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostData } from './host-data.ts';
import { hostViews } from './cluster-hosts.ts';
import type { HostView } from './host-view.ts';

test('a failed host has problem, attempts and times', () => {
  expect(hostData(hostIn('failed'))).toMatchObject({
    name: '10.0.0.1',
    address: '10.0.0.1',
    source: { kind: 'ConfigMap', name: '10.0.0.1' },
    phase: 'Failed',
    isGood: false,
    step: 'connect',
    problem: failure,
    attempts: 3,
    nextAttempt: at(30),
    started: at(0),
    ended: undefined,
    node: undefined,
  });
});

test('a Ready host has its Node', () => {
  const data = hostData(hostIn('ready'));
  expect(data).toMatchObject({ phase: 'Ready', isGood: true, started: at(0), ended: at(12), problem: undefined });
  expect(data['node']).toEqual({
    name: 'win-1',
    ready: true,
    unschedulable: false,
    version: 'v2',
    desiredVersion: 'v2',
  });
  expect(data['timeline']).toHaveLength(2);
});

test('a Node that cannot be read has its name', () => {
  expect(hostData(hostIn('ready', 'a', { node: undefined, nodeName: 'win-1' }))['node']).toEqual({ name: 'win-1' });
});

test('a Node has only fields about the host', () => {
  const node = nodeOf('win-1', { annotations: { secretive: 'geheim' }, labels: { a: 'b' } });
  expect(JSON.stringify(hostData(hostIn('ready', 'a', { node })))).not.toContain('geheim');
});

test('every state becomes plain data', () => {
  for (const state of Object.keys(statuses) as StateName[]) {
    const data = hostData(hostIn(state));
    expect(JSON.parse(JSON.stringify(data))).toMatchObject({ name: '10.0.0.1', phase: expect.any(String) as string });
  }
});

test('an invalid entry has its problem', () => {
  const [host] = hostViews(viewOf({ entries: { bad_name: 'username=x' } }));
  expect(hostData(host as HostView)).toMatchObject({
    phase: 'Rejected',
    problem: { code: 'INSTANCE_ADDRESS_INVALID' },
  });
});
