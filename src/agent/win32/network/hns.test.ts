import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { manualClock, settle } from '../../../../test/kit/manual-clock.ts';
import { createHostNetwork, openHostNetwork } from './hns.ts';
import type { HnsRequest } from './hns-messages.ts';

const overlay = { ID: 'A1', Name: 'Overlay', Subnets: [{ AddressPrefix: '10.132.1.0/24' }], ManagementIP: '10.0.0.5' };

/** The service in memory; `act` may answer otherwise. */
function bench(act?: (request: HnsRequest) => unknown, isInstalled = true) {
  const asked: HnsRequest[] = [];
  const clock = manualClock();
  const world = { networks: [overlay], endpoints: [] as Record<string, unknown>[] };
  async function ask(request: HnsRequest) {
    asked.push(request);
    const other = await act?.(request);
    return { result: 0, text: JSON.stringify({ Success: true, Output: other ?? answerTo(request) }) };
  }
  function answerTo({ method, path, body }: HnsRequest): unknown {
    if (method === 'GET') return path === '/networks' ? world.networks : world.endpoints;
    if (method === 'DELETE') world.networks = world.networks.filter(network => !path.endsWith(network.ID));
    if (path !== '/endpoints') return {};
    const endpoint = { ...(body as object), ID: 'E1', IPAddress: '10.132.1.2', MacAddress: '00-15-5D-00-00-01' };
    world.endpoints.push(endpoint);
    return endpoint;
  }
  return { asked, clock, world, network: createHostNetwork(ask, () => isInstalled, clock) };
}

test('lists networks', async () => {
  const { network, asked } = bench();
  expect(await network.networks()).toEqual([
    { id: 'A1', name: 'Overlay', subnets: ['10.132.1.0/24'], managementIp: '10.0.0.5' },
  ]);
  expect(asked).toEqual([{ method: 'GET', path: '/networks' }]);
});

test('creates an endpoint, attaches it to the host and finds it again', async () => {
  const { network, asked } = bench();
  const endpoint = {
    id: 'E1',
    name: 'VIPEndpoint',
    networkId: 'A1',
    ipAddress: '10.132.1.2',
    mac: '00-15-5d-00-00-01',
  };
  expect(await network.createEndpoint('A1', 'VIPEndpoint')).toEqual(endpoint);
  await network.attachToHost('E1');
  expect(await network.endpoints()).toEqual([endpoint]);
  expect(asked).toEqual([
    { method: 'POST', path: '/endpoints', body: { VirtualNetwork: 'A1', Name: 'VIPEndpoint', Policies: [] } },
    { method: 'POST', path: '/endpoints/E1/attach', body: { SystemType: 'Host', CompartmentId: 1 } },
    { method: 'GET', path: '/endpoints' },
  ]);
});

test('removes a network', async () => {
  const { network, world, asked } = bench();
  await network.removeNetwork('A1');
  expect(world.networks).toEqual([]);
  expect(asked.at(-1)).toEqual({ method: 'DELETE', path: '/networks/A1' });
});

test('removes an endpoint once', async () => {
  const { network, asked } = bench();
  const { id } = await network.createEndpoint('A1', 'VIPEndpoint');
  await network.removeEndpoint(id);
  expect(asked.at(-1)).toEqual({ method: 'DELETE', path: `/endpoints/${id}` });
  await network.removeEndpoint('other');
  expect(asked.at(-1)).toEqual({ method: 'GET', path: '/endpoints' });
});

test('does not remove a missing network', async () => {
  const { network, asked } = bench();
  await network.removeNetwork('other');
  expect(asked.map(({ method }) => method)).toEqual(['GET']);
});

test('ignores that another program removed the network first', async () => {
  const { network, world } = bench(({ method }) => {
    if (method !== 'DELETE') return undefined;
    world.networks = [];
    throw new Error('Element not found.');
  });
  await expect(network.removeNetwork('A1')).resolves.toBeUndefined();
});

test('reports that a network could not be removed', async () => {
  const { network } = bench(({ method }) => {
    if (method === 'DELETE') throw new Error('in use');
  });
  await expect(network.removeNetwork('A1')).rejects.toThrow('in use');
});

test('sees no networks without the Containers feature', async () => {
  const { network, asked } = bench(undefined, false);
  expect(await network.networks()).toEqual([]);
  expect(await network.endpoints()).toEqual([]);
  await network.removeNetwork('A1');
  expect(asked).toEqual([]);
});

test('creates nothing without the Containers feature', async () => {
  const { network } = bench(undefined, false);
  const refusal = { code: 'CONTAINERS_FEATURE_MISSING', remedy: 'Enable the Containers feature and reboot the host.' };
  await expect(network.createEndpoint('A1', 'x')).rejects.toMatchObject(refusal);
  await expect(network.attachToHost('E1')).rejects.toMatchObject(refusal);
});

test('sends one request after the other', async () => {
  let [under, most] = [0, 0];
  const { network } = bench(async () => {
    under += 1;
    most = Math.max(most, under);
    await settle();
    under -= 1;
  });
  await Promise.all([network.networks(), network.endpoints(), network.networks(), network.createEndpoint('A1', 'x')]);
  expect(most).toBe(1);
});

test('continues after a failure', async () => {
  let failures = 1;
  const { network } = bench(() => {
    if (failures-- > 0) throw new Error('once');
  });
  const [first, second] = await Promise.allSettled([network.networks(), network.networks()]);
  expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
});

test('waits two minutes for a response and sends no other request until then', async () => {
  const slow = Promise.withResolvers<void>();
  const { network, clock, asked } = bench(() => slow.promise);
  const tooSlow = {
    code: 'HOST_NETWORK_FAILED',
    message: 'request GET /networks to the Host Networking Service was not answered within 120 s',
  };
  const first = expect(network.networks()).rejects.toMatchObject(tooSlow);
  await clock.advance(119_999);
  await clock.advance(1);
  await first;
  await expect(network.createEndpoint('A1', 'x')).rejects.toMatchObject(tooSlow);
  expect(asked).toHaveLength(1);
  slow.resolve();
  await settle();
  expect(await network.networks()).toHaveLength(1);
  expect(clock.sleepers()).toBe(0);
});

test('leaves no timer behind', async () => {
  const { network, clock } = bench();
  await network.networks();
  await settle();
  expect(clock.sleepers()).toBe(0);
});

interface Native {
  result: number;
  response: string | undefined;
}

async function native({ result, response }: Native, withLibrary = true) {
  const folder = await mkdtemp(join(tmpdir(), 'hns-'));
  const said: unknown[][] = [];
  const freed: bigint[] = [];
  const koffi: FakeKoffi = new FakeKoffi({
    HNSCall: (method: string, path: string, request: string, out: unknown[]) => {
      said.push([method, path, request]);
      if (response !== undefined) out[0] = koffi.storeText(response);
      return result;
    },
    CoTaskMemFree: (memory: bigint) => {
      freed.push(memory);
    },
  });
  if (withLibrary) await writeFile(`${folder}\\vmcompute.dll`, '');
  const network = openHostNetwork(koffi, folder, manualClock());
  const clean = async () => {
    await rm(folder, { recursive: true });
    await rm(`${folder}\\vmcompute.dll`, { force: true });
  };
  return { network, said, freed, clean };
}

test('calls the library with method, path and request, and frees the answer', async () => {
  const { network, said, freed, clean } = await native({
    result: 0,
    response: '{"Success":true,"Output":{"ID":"E1"}}',
  });
  expect((await network.createEndpoint('A1', 'ä')).id).toBe('E1');
  expect(said).toEqual([['POST', '/endpoints', '{"VirtualNetwork":"A1","Name":"ä","Policies":[]}']]);
  expect(freed).toHaveLength(1);
  await clean();
});

test('sends an empty body by default', async () => {
  const { network, said, clean } = await native({ result: 0, response: '{"Success":true,"Output":[]}' });
  expect(await network.networks()).toEqual([]);
  expect(said).toEqual([['GET', '/networks', '']]);
  await clean();
});

test('does not free a missing response', async () => {
  const { network, freed, clean } = await native({ result: -2_147_023_174, response: undefined });
  await expect(network.networks()).rejects.toThrow(/result 0x800706ba/);
  expect(freed).toEqual([]);
  await clean();
});

test('frees an answer that reports a failure, too', async () => {
  const { network, freed, clean } = await native({ result: -1, response: '{"Success":false,"Error":"no"}' });
  await expect(network.networks()).rejects.toThrow(/0xffffffff, "no"/);
  expect(freed).toHaveLength(1);
  await clean();
});

test('does not bind a missing library', async () => {
  const { network, said, clean } = await native({ result: 0, response: undefined }, false);
  expect(await network.networks()).toEqual([]);
  expect(said).toEqual([]);
  await clean();
});

test('reports that the library cannot be loaded, each time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hns-'));
  await writeFile(`${folder}\\vmcompute.dll`, 'no library');
  const network = openHostNetwork(new FakeKoffi({}), folder, manualClock());
  for (const _ of [1, 2]) {
    await expect(network.networks()).rejects.toMatchObject({
      code: 'HOST_NETWORK_FAILED',
      message: 'vmcompute.dll cannot be loaded',
      remedy: expect.stringContaining('Reboot') as string,
    });
  }
  await rm(`${folder}\\vmcompute.dll`);
  await rm(folder, { recursive: true });
});
