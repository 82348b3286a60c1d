import { expect, test } from 'vitest';
import type { Route } from '../ports.ts';
import { adapter, ModelHost } from '../../../test/kit/model-host.ts';
import { ensureHostRoute } from './host-route.ts';

const address = '169.254.169.254';
const over = (gateway: string, interfaceIndex = 7, metric = 0): Route => ({
  destination: `${address}/32`,
  gateway,
  interfaceIndex,
  metric,
});
const byDefault = (gateway: string, interfaceIndex = 7, metric = 0): Route => ({
  ...over(gateway, interfaceIndex, metric),
  destination: '0.0.0.0/0',
});
const elsewhere: Route = { ...over('10.0.0.9'), destination: '10.9.0.0/16' };

const cases: [about: string, routes: Route[], want: Route[]][] = [
  ['adds the route over the default gateway', [byDefault('10.0.0.1')], [over('10.0.0.1')]],
  ['keeps the route', [byDefault('10.0.0.1'), over('10.0.0.1', 7, 15)], [over('10.0.0.1', 7, 15)]],
  ['replaces it when the gateway has changed', [byDefault('10.0.0.2'), over('10.0.0.1')], [over('10.0.0.2')]],
  ['replaces it when the adapter has changed', [byDefault('10.0.0.1'), over('10.0.0.1', 3)], [over('10.0.0.1')]],
  ['uses the best default route', [byDefault('10.0.0.1', 7, 9), byDefault('10.0.0.2')], [over('10.0.0.2')]],
  ['ignores gateways of other adapters', [byDefault('10.5.0.1', 3), byDefault('10.0.0.1', 7, 9)], [over('10.0.0.1')]],
];
test.each(cases)('%s', async (_, routes, want) => {
  const host = new ModelHost();
  host.state.routes = [...routes, elsewhere];
  await ensureHostRoute(address, host);
  expect(host.state.routes.filter(({ destination }) => destination === `${address}/32`)).toEqual(want);
  expect(host.state.routes).toContainEqual(elsewhere);
  const calls = host.log.length;
  await ensureHostRoute(address, host);
  expect(host.log).toHaveLength(calls);
});

test('the address is reachable all the time: the old route goes last', async () => {
  const host = new ModelHost();
  host.state.routes.push(over('10.0.0.9'));
  await ensureHostRoute(address, host);
  expect(host.log).toEqual([`add route ${address}/32 over 10.0.0.1`, `remove route ${address}/32 over 10.0.0.9`]);
});

test('fails when there is no gateway, and for an argument that is no address', async () => {
  const host = new ModelHost();
  await expect(ensureHostRoute('here', host)).rejects.toMatchObject({ code: 'SERVICES_MALFORMED' });
  host.state.routes = [];
  await expect(ensureHostRoute(address, host)).rejects.toMatchObject({ code: 'HOST_VALUE_UNKNOWN' });
  host.state.adapters = [adapter('Ethernet', ['10.0.0.5/24'])];
  await expect(ensureHostRoute(address, host)).rejects.toMatchObject({ code: 'HOST_VALUE_UNKNOWN' });
});
