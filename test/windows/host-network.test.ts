import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Adapter, Route } from '../../src/agent/ports.ts';
import { encodeRoute } from '../../src/agent/win32/network/route-records.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { createPortsHost, portsOf } from './programs/ports-host.ts';

/** Adapters, routes and container networks of a host as the agent sees them, compared with what Linux and doubles say. */

let lab: WindowsLab;
let host: WindowsHost;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await createPortsHost(lab);
});

afterAll(async () => {
  const unexpected = host.lab.unexpected();
  await lab.stop();
  expect(unexpected).toEqual([]);
});

const { outcomes, values, value, error } = portsOf(() => host);

test('lists the external adapter and not the loopback', async () => {
  const adapters = (await value('system', 'adapters')) as Adapter[];
  const [adapter] = adapters;
  expect(adapters).toHaveLength(1);
  expect(adapter).toMatchObject({ name: 'eth0', isUp: true });
  expect(adapter?.mac).toMatch(/^([0-9a-f]{2}-){5}[0-9a-f]{2}$/);
  expect(adapter?.addresses).toContain(`${host.address}/24`);
  expect(adapter?.addresses.filter(address => address.startsWith('fe80::'))).toHaveLength(1);
  expect(adapter?.defaultRouteMetric).toBeTypeOf('number');
});

const metadata = '169.254.169.254';

/** Wine cannot change routes. */
async function changeRoute(verb: 'add' | 'del', gateway: string): Promise<void> {
  const words = ['route', verb, `${metadata}/32`, 'via', gateway, 'dev', 'eth0', 'onlink', 'metric', '7'];
  expect(await host.enter('ip', words)).toMatchObject({ code: 0, stderr: '' });
}

interface LinuxRoute {
  dst: string;
  gateway?: string;
  metric?: number;
}

async function linuxRoutes(): Promise<Omit<Route, 'interfaceIndex'>[]> {
  const { stdout } = await host.enter('ip', ['-json', '-4', 'route']);
  return (JSON.parse(stdout) as LinuxRoute[]).map(({ dst, gateway = '0.0.0.0', metric = 0 }) => {
    const prefix = dst === 'default' ? '0.0.0.0/0' : dst;
    return { destination: prefix.includes('/') ? prefix : `${prefix}/32`, gateway, metric };
  });
}

test('lists the routes that Linux lists', async () => {
  await changeRoute('add', lab.address);
  const [routes, adapters] = (await values(['routes', 'list'], ['system', 'adapters'])) as [Route[], Adapter[]];
  const interfaceIndex = adapters[0]?.index;
  const expected = (await linuxRoutes()).map(route => ({ ...route, interfaceIndex }));
  expect(expected.map(({ destination }) => destination)).toEqual(
    expect.arrayContaining(['0.0.0.0/0', `${metadata}/32`]) as string[],
  );
  expect(routes).toHaveLength(expected.length);
  expect(routes).toEqual(expect.arrayContaining(expected));
  await changeRoute('del', lab.address);
});

test('keeps the route to the metadata service of AWS; reports that Wine cannot create or remove it', async () => {
  const ensure = () => error('test', 'ensureHostRoute', metadata);
  const lacksFunctions = { code: 'WINDOWS_CALL_FAILED', remedy: expect.stringContaining('Windows Server') as string };
  await changeRoute('add', lab.address);
  expect(await ensure()).toBeUndefined();
  // The one over another gateway has to go.
  const other = lab.address.replace(/\d+$/, '250');
  await changeRoute('del', lab.address);
  await changeRoute('add', other);
  const before = await linuxRoutes();
  const message = expect.stringContaining('CreateIpForwardEntry2') as string;
  expect(await ensure()).toMatchObject({ ...lacksFunctions, message });
  const [route] = ((await value('routes', 'list')) as Route[]).filter(({ gateway }) => gateway === other);
  expect(await error('routes', 'remove', route)).toMatchObject(lacksFunctions);
  expect(await linuxRoutes()).toEqual(before);
  await changeRoute('del', other);
});

test('lays out a route for Windows as the C compiler does', async () => {
  const route = { destination: '169.254.169.0/24', gateway: '10.1.2.3', interfaceIndex: 6, metric: 7 };
  const forever = 0xffff_ffff;
  expect(JSON.parse(await host.run(`routerow ${encodeRoute(route).toString('hex')}`))).toEqual({
    destination: '169.254.169.0',
    prefixLength: 24,
    gateway: '10.1.2.3',
    families: [2, 2],
    luid: 0,
    index: 6,
    metric: 7,
    lifetimes: [forever, forever],
    // MIB_IPPROTO_NETMGMT
    protocol: 3,
    immortal: 1,
    sitePrefixLength: 0,
    loopback: 0,
    autoconfigured: 0,
    published: 0,
    age: 0,
    origin: 0,
  });
});

test('lists no networks when the library is missing', async () => {
  const library = host.drive.path('C:\\windows\\system32\\vmcompute.dll');
  const bytes = await readFile(library);
  await host.drive.remove('C:\\windows\\system32\\vmcompute.dll');
  const [networks, endpoint] = await outcomes(['network', 'networks'], ['network', 'createEndpoint', 'a', 'b']);
  expect(networks).toEqual({ value: [] });
  expect(endpoint?.error).toMatchObject({ code: 'CONTAINERS_FEATURE_MISSING' });
  await host.drive.write('C:\\windows\\system32\\vmcompute.dll', bytes);
});

test('creates an endpoint on a network, attaches it to the host, and removes the network', async () => {
  await host.drive.write(
    'C:\\lab\\hns\\networks\\AAAA.json',
    '{"ID":"AAAA","Name":"Overlay","Type":"Overlay","Subnets":[{"AddressPrefix":"10.132.1.0/24"}],"ManagementIP":"10.0.0.5"}',
  );
  const [networks, endpoint] = await values(
    ['network', 'networks'],
    ['network', 'createEndpoint', 'AAAA', 'VIPEndpoint'],
  );
  expect(networks).toEqual([{ id: 'AAAA', name: 'Overlay', subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5' }]);
  const made = endpoint as { id: string };
  expect(made).toMatchObject({
    name: 'VIPEndpoint',
    networkId: 'AAAA',
    ipAddress: '10.132.1.2',
    mac: expect.stringMatching(/^00-15-5d(-[0-9a-f]{2}){3}$/) as string,
  });
  const [, endpoints] = await values(['network', 'attachToHost', made.id], ['network', 'endpoints']);
  expect(endpoints).toEqual([made]);
  expect(host.lab.networkCalls()).toContain(
    `POST /endpoints/${made.id}/attach {"SystemType":"Host","CompartmentId":1}`,
  );
  const [, , after, left] = await values(
    ['network', 'removeNetwork', 'AAAA'],
    ['network', 'removeNetwork', 'AAAA'],
    ['network', 'networks'],
    ['network', 'endpoints'],
  );
  expect([after, left]).toEqual([[], []]);
});

test('reports errors of the Host Networking Service', async () => {
  await host.lab.failNetworkCalls('The RPC server is unavailable.');
  expect(await error('network', 'networks')).toMatchObject({
    code: 'HOST_NETWORK_FAILED',
    message: 'request GET /networks to the Host Networking Service failed: "The RPC server is unavailable."',
  });
  await host.lab.failNetworkCalls(undefined);
});
