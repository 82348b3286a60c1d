import { expect, test } from 'vitest';
import { instanceOf, viewOf } from '../../../test/kit/status-views.ts';
import { sandboxHosts } from './hosts.ts';
import type { SimulatedMachine } from './running.ts';

const machine = (name: string, address: string, dnsName?: string): SimulatedMachine => ({
  name,
  address,
  dnsName,
  sshSessions: 0,
  uploadedBytes: 0,
  reboots: 0,
});

test('hosts have the names that --faults uses', () => {
  const instances = [instanceOf('10.0.1.12'), instanceOf('win-3.sandbox.test'), instanceOf('10.0.1.21')];
  const machines = [
    machine('win-1', '10.0.1.12'),
    machine('win-3', '10.0.1.14', 'win-3.sandbox.test'),
    machine('win-10', '10.0.1.21'),
  ];
  expect(sandboxHosts(viewOf({ instances }), machines).map(({ name, address }) => [name, address])).toEqual([
    ['win-1', '10.0.1.12'],
    ['win-3', 'win-3.sandbox.test'],
    ['win-10', '10.0.1.21'],
  ]);
});

test('a host from outside the sandbox keeps its name', () => {
  const entries = { '10.9.9.9': 'username=x', bad_name: 'username=y' };
  expect(sandboxHosts(viewOf({ entries }), [machine('win-1', '10.0.1.12')]).map(({ name }) => name)).toEqual([
    '10.9.9.9',
    'bad_name',
  ]);
});
