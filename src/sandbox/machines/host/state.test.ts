import { expect, test } from 'vitest';
import { defaultTraits } from '../traits.ts';
import { bootIdOf, bootState, freshState } from './state.ts';

const place = { hostName: 'win-1', address: '10.0.0.11', dnsSuffix: 'sandbox.test', id: 'abc' };
const fresh = (traits = {}) => freshState(place, { ...defaultTraits, ...traits });

test('a new host has the state of its traits', () => {
  expect(fresh()).toMatchObject({
    hostName: 'win-1',
    dnsSuffix: 'sandbox.test',
    boots: 1,
    os: defaultTraits.os,
    containersFeature: 'enabled',
    pendingReboot: [],
    networks: [],
    endpoints: [],
  });
});

test('has one adapter with its address and the default route', () => {
  expect(fresh().adapters).toEqual([
    {
      name: 'Ethernet',
      index: 6,
      mac: '02-15-0a-00-00-0b',
      addresses: ['10.0.0.11/24'],
      isUp: true,
      defaultRouteMetric: 25,
    },
  ]);
});

test('has default Windows services and none of WMCO', () => {
  const names = [...fresh().services.keys()];
  expect(names).toEqual(['sshd', 'hns', 'w32time']);
  expect([...fresh().services.values()].every(({ state }) => state === 'stopped')).toBe(true);
});

test('foreign services do not have the description of WMCO services', () => {
  const foreign = fresh({ foreignServices: ['containerd'] }).services.get('containerd');
  expect(foreign?.config).toMatchObject({ description: 'containerd (not installed by WMCO)', startType: 'automatic' });
  expect(foreign?.config.description).not.toContain('OpenShift managed');
});

test('traits override defaults: name, feature, pending reboot, variables', () => {
  const state = fresh({
    hostName: 'WIN_HOST',
    containersFeature: 'disabled',
    pendingReboot: ['Windows Update'],
    machineVariables: { HTTPS_PROXY: 'http://p' },
  });
  expect(state).toMatchObject({
    hostName: 'WIN_HOST',
    containersFeature: 'disabled',
    pendingReboot: ['Windows Update'],
  });
  expect(state.variables).toMatchObject({ HTTPS_PROXY: 'http://p', OS: 'Windows_NT' });
  expect(state.variablesAtBoot).toEqual(state.variables);
});

test('two hosts share no mutable state', () => {
  const [one, other] = [fresh({ pendingReboot: ['x'] }), fresh({ pendingReboot: ['x'] })];
  one.pendingReboot.push('y');
  one.services.clear();
  one.adapters.length = 0;
  expect([other.pendingReboot, other.services.size, other.adapters.length]).toEqual([['x'], 3, 1]);
});

test('a boot applies pending changes', () => {
  const state = fresh({ containersFeature: 'disabled', pendingReboot: ['Windows Update'] });
  Object.assign(state, { newName: 'node-7', containersFeature: 'enable-pending' });
  state.variables = { ...state.variables, NO_PROXY: 'x' };
  const before = bootIdOf(state);
  bootState(state);
  expect(state).toMatchObject({
    hostName: 'node-7',
    newName: undefined,
    boots: 2,
    containersFeature: 'enabled',
    pendingReboot: [],
  });
  expect(state.variablesAtBoot).toMatchObject({ NO_PROXY: 'x' });
  expect(bootIdOf(state)).not.toBe(before);
});

test('a boot without pending changes changes only the boot ID', () => {
  const state = fresh({ containersFeature: 'disabled' });
  bootState(state);
  expect(state).toMatchObject({ hostName: 'win-1', boots: 2, containersFeature: 'disabled' });
});

test('processes see variables as they were at the boot', () => {
  const state = fresh();
  state.variables = { ...state.variables, LATE: 'x' };
  expect(state.variablesAtBoot).not.toHaveProperty('LATE');
});

test('a boot ID is a single word', () => {
  const state = fresh();
  const seen = new Set<string>();
  for (let boot = 0; boot < 5; boot += 1) {
    seen.add(bootIdOf(state));
    bootState(state);
  }
  expect(seen.size).toBe(5);
  for (const id of seen) expect(id).toMatch(/^[\w-]+$/);
});
