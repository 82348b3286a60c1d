import { expect, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { ApiError } from '#kube/api-error.ts';
import { nodes } from '#kube/resources.ts';
import type { Credential } from '#kube/transport/connection.ts';
import { agentCertificate, agentSubject } from '../../test/kit/agent-certificates.ts';
import { MemoryApi } from '../../test/kit/memory-api.ts';
import { adapter, ModelSystem } from '../../test/kit/model-system.ts';
import { rejectionOf } from '../../test/kit/outcome.ts';
import { addressesOf, locateOwnNode } from './locate-node.ts';

const { signal } = new AbortController();

function worldOf(addresses: Record<string, string[]>) {
  const api = new MemoryApi();
  for (const [name, list] of Object.entries(addresses)) {
    api.put(nodes, {
      metadata: { name, labels: { 'kubernetes.io/os': 'windows' } },
      status: { addresses: list.map(address => ({ type: 'InternalIP', address })) },
    });
  }
  return { api, system: new ModelSystem(() => undefined) };
}

test('finds the Node that reports an address of this host', async () => {
  const { api, system } = worldOf({ other: ['10.0.0.4'], mine: ['10.0.0.5'] });
  expect(await locateOwnNode(api, system, signal)).toMatchObject({ name: 'mine' });
});

test('asks for Windows Nodes only', async () => {
  const { api, system } = worldOf({ mine: ['10.0.0.5'] });
  let asked: unknown;
  const listAll: typeof api.listAll = (resource, options) => {
    asked = options;
    return api.listAll(resource, options);
  };
  await locateOwnNode({ listAll }, system, signal);
  expect(asked).toEqual({ labelSelector: 'kubernetes.io/os=windows', signal });
});

test('says that there is none', async () => {
  const { api, system } = worldOf({ other: ['10.0.0.4'] });
  expect(await rejectionOf(locateOwnNode(api, system, signal))).toMatchObject({
    code: 'NODE_NOT_FOUND',
    message: expect.stringContaining('10.0.0.5'),
  });
});

test('does not take trouble with the API server for an answer', async () => {
  const { api, system } = worldOf({ mine: ['10.0.0.5'] });
  api.before = () => {
    throw new Error('503');
  };
  await expect(locateOwnNode(api, system, signal)).rejects.toThrow('503');
});

/** An API server that shows a Node only to whoever asks for that one. */
function strictly(api: MemoryApi, allowed: string) {
  const asked: unknown[] = [];
  const listAll: typeof api.listAll = (resource, options) => {
    asked.push(options?.fieldSelector ?? options?.labelSelector);
    if (options?.fieldSelector !== `metadata.name=${allowed}`)
      return Promise.reject(new ApiError({ code: 403, reason: 'Forbidden' }, 'LIST nodes'));
    return api.listAll(resource, options);
  };
  return { listAll, asked };
}

const shows = (credential: Credential) => ({ current: () => Promise.resolve(credential) });

test('asks for the Node of its certificate when it may not look at all', async () => {
  const { api, system } = worldOf({ other: ['10.0.0.4'], mine: ['10.0.0.5'] });
  const server = strictly(api, 'mine');
  const { clientCertificate } = agentCertificate(agentSubject('mine'));
  expect(await locateOwnNode(server, system, signal, shows({ clientCertificate }))).toMatchObject({ name: 'mine' });
  expect(server.asked).toEqual(['kubernetes.io/os=windows', 'metadata.name=mine']);
});

test('is not the Node of its certificate when that has other addresses', async () => {
  const { api, system } = worldOf({ other: ['10.0.0.4'] });
  const { clientCertificate } = agentCertificate(agentSubject('other'));
  const server = strictly(api, 'other');
  expect(await rejectionOf(locateOwnNode(server, system, signal, shows({ clientCertificate })))).toMatchObject({
    code: 'NODE_NOT_FOUND',
  });
});

const strangers: [name: string, identity: Parameters<typeof locateOwnNode>[3]][] = [
  ['nobody tells what it shows', undefined],
  ['it shows a token', shows({ authorization: new Secret('Bearer x') })],
  [
    'its certificate is not that of an agent',
    shows({ clientCertificate: agentCertificate({ commonName: 'admin' }).clientCertificate }),
  ],
];
for (const [name, identity] of strangers) {
  test(`passes the refusal on when ${name}`, async () => {
    const { api, system } = worldOf({ mine: ['10.0.0.5'] });
    const server = strictly(api, 'mine');
    await expect(locateOwnNode(server, system, signal, identity)).rejects.toMatchObject({ reason: 'Forbidden' });
    expect(server.asked).toHaveLength(1);
  });
}

test('takes the Node of the default route when another one has an address of ours, too', async () => {
  const { api, system } = worldOf({ overlay: ['10.132.0.2'], mine: ['10.0.0.5'] });
  system.adapterList = [adapter('vEthernet', ['10.132.0.2/24']), adapter('Ethernet', ['10.0.0.5/24'], 25)];
  expect(await locateOwnNode(api, system, signal)).toMatchObject({ name: 'mine' });
});

test('takes the Node of our name when two have our address', async () => {
  const { api, system } = worldOf({ gone: ['10.0.0.5'], 'win-1': ['10.0.0.5'] });
  expect(await locateOwnNode(api, system, signal)).toMatchObject({ name: 'win-1' });
});

test('puts the addresses of the best default route first, those of dead adapters last', () => {
  const adapters = [
    { ...adapter('dead', ['10.0.0.1/24']), isUp: false },
    adapter('plain', ['10.0.0.2/24']),
    adapter('second', ['10.0.0.3/24'], 50),
    adapter('first', ['10.0.0.4/24', 'fe80::4/64'], 10),
  ];
  expect(addressesOf(adapters).map(({ address }) => address)).toEqual([
    '10.0.0.4',
    'fe80::4',
    '10.0.0.3',
    '10.0.0.2',
    '10.0.0.1',
  ]);
});

test('keeps the length of the network with each address', () => {
  expect(addressesOf([adapter('one', ['10.0.0.5/24'])])).toEqual([{ address: '10.0.0.5', cidr: '10.0.0.5/24' }]);
});
