import { expect, test } from 'vitest';
import { byNode, indexByNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceCondition, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { Store } from '#kube/informer/store.ts';
import { nodeOf } from '../../../test/kit/csr-facts.ts';
import { nodeList } from '../../../test/kit/node-list.ts';
import { byHostName, findInstance, hostNames, takenNames } from './observe.ts';

function instanceOf(
  name: string,
  status: WindowsInstanceStatus = {},
  more: { created?: string; address?: string; isGoing?: boolean; servingNames?: string[] } = {},
): WindowsInstance {
  const { created = '2026-03-01T12:00:00Z', address = name, isGoing = false, servingNames } = more;
  return {
    metadata: {
      name,
      namespace: 'wmco',
      uid: `uid-${name}`,
      creationTimestamp: created,
      ...(isGoing && { deletionTimestamp: created }),
    },
    spec: { address, username: 'Administrator', ...(servingNames && { servingNames }) },
    status,
  };
}

const host = (name: string, ...addresses: string[]): WindowsInstanceStatus => ({ host: { name, addresses } });
const rejected: WindowsInstanceStatus = {
  ...host('win-1'),
  conditions: [{ type: instanceCondition.accepted, status: 'False', reason: 'X', message: '', lastTransitionTime: '' }],
};

function storeOf(...instances: WindowsInstance[]): Store<WindowsInstance> {
  const store = new Store<WindowsInstance>();
  store.addIndex(byNode, indexByNode);
  store.addIndex(byHostName, hostNames);
  for (const each of instances) store.put(each);
  return store;
}

const early = { created: '2026-02-01T12:00:00Z' };
const findings: [string, WindowsInstance[], string | undefined][] = [
  ['the instance whose record has the name', [instanceOf('a', host('win-1')), instanceOf('b', host('win-2'))], 'a'],
  ['the instance that became the Node before hosts were recorded', [instanceOf('a', { node: 'win-1' })], 'a'],
  ['the older one of two', [instanceOf('a', host('win-1')), instanceOf('b', host('win-1'), early)], 'b'],
  [
    'the first one by name of two of the same second',
    [instanceOf('b', host('win-1')), instanceOf('a', host('win-1'))],
    'a',
  ],
  ['no instance by its address', [instanceOf('win-1')], undefined],
  ['no instance by an earlier name', [instanceOf('a', { node: 'win-1', ...host('win-2') })], undefined],
  ['no instance by a part of the name', [instanceOf('a', host('win-1.corp'))], undefined],
  ['no instance that is rejected', [instanceOf('a', rejected)], undefined],
  ['no instance that is being deleted', [instanceOf('a', host('win-1'), { isGoing: true })], undefined],
  [
    'the next one when the older is rejected',
    [{ ...instanceOf('a', rejected, early) }, instanceOf('b', host('win-1'))],
    'b',
  ],
];
for (const [title, instances, want] of findings) {
  test(`finds ${title}`, () => expect(findInstance('win-1', storeOf(...instances))?.metadata.name).toBe(want));
}

const own = instanceOf(
  'victim',
  { ipv4: '10.0.0.1', ...host('win-1', '10.0.0.1', '10.9.0.1') },
  { address: '10.0.0.1' },
);
const lying = nodeOf('evil', '10.0.0.1', {
  addresses: ['10.0.0.1', 'win-1', '10.9.0.1'].map(address => ({ type: 'InternalIP', address })),
});

test('a hostile Node that reports the proven names of a host takes none of them', () => {
  expect(takenNames(['win-1', '10.0.0.1'], own, storeOf(own), nodeList(lying))).toEqual({});
});

test('a hostile host that says it has the proven names of another takes none of them', () => {
  const evil = instanceOf('evil', host('evil', '10.0.0.66', '10.0.0.1', 'win-1'), { address: '10.0.0.66' });
  expect(takenNames(['win-1', '10.0.0.1'], own, storeOf(own, evil), nodeList())).toEqual({});
});

test('a hostile Node takes no name that the administrator has added', () => {
  const named = { ...own, spec: { ...own.spec, servingNames: ['alias.corp'] } };
  const node = nodeOf('evil', 'alias.corp');
  expect(takenNames(['alias.corp'], named, storeOf(named), nodeList(node))).toEqual({});
});

const claim = (name: string) => takenNames([name], own, storeOf(own, ...others), nodeList(lying, ...otherNodes));
const others = [
  instanceOf('by-name.corp', { ipv4: '10.0.0.2', ...host('win-2', '10.0.0.2', '10.9.0.2') }, { servingNames: ['www'] }),
];
const otherNodes = [nodeOf('linux-1', '10.0.0.3')];
const taken: [string, string, string][] = [
  ['the address of another instance', 'By-Name.corp', 'WindowsInstance by-name.corp'],
  ['the address that another instance is dialed at', '10.0.0.2', 'WindowsInstance by-name.corp'],
  ['the node name of another instance', 'WIN-2', 'WindowsInstance by-name.corp'],
  ['the address of the default route of another instance', '10.9.0.2', 'WindowsInstance by-name.corp'],
  ['a name that the administrator has given to another instance', 'www', 'WindowsInstance by-name.corp'],
  ['the name of another Node', 'linux-1', 'Node linux-1'],
  ['an address that another Node reports', '10.0.0.3', 'Node linux-1'],
  ['an address of its own default route that another Node reports too', '10.9.0.1', 'Node evil'],
];
for (const [title, name, holder] of taken) {
  test(`a host does not get ${title}`, () => expect(claim(name)).toEqual({ [name]: holder }));
}

test('a name that no other host has is not taken', () => {
  expect(takenNames(['win-1.corp', '10.0.0.9'], own, storeOf(own, ...others), nodeList(...otherNodes))).toEqual({});
});

test('what its own Node reports takes nothing from a host', () => {
  expect(takenNames(['10.9.0.1'], own, storeOf(own), nodeList(nodeOf('win-1', '10.9.0.1')))).toEqual({});
});

test('an address dialed for two instances belongs to neither', () => {
  const twin = instanceOf('twin', { ipv4: '10.0.0.1' }, { address: 'twin.corp' });
  expect(takenNames(['10.0.0.1'], own, storeOf(own, twin), nodeList())).toEqual({ '10.0.0.1': 'WindowsInstance twin' });
});

test('a host that has got the former address of another one is not kept from it by what was dialed before', () => {
  const moved = instanceOf('moved', { ipv4: '10.0.0.1', ...host('win-3', '10.0.0.3') }, { address: 'moved.corp' });
  expect(takenNames(['10.0.0.1'], own, storeOf(own, moved), nodeList())).toEqual({});
});

test('a host that calls itself like the address or an added name of another takes nothing from it', () => {
  const named = {
    ...instanceOf('victim', host('win-1', '10.0.0.1'), { address: 'win-1.corp' }),
    spec: { address: 'win-1.corp', username: 'Administrator', servingNames: ['alias.corp'] },
  };
  const squatters = ['win-1.corp', 'alias.corp'].map(name => instanceOf(`evil-${name}`, host(name, '10.0.0.9')));
  const nodes = squatters.map(({ status }) => nodeOf(status?.host?.name ?? '', '10.0.0.9'));
  expect(takenNames(['win-1.corp', 'alias.corp'], named, storeOf(named, ...squatters), nodeList(...nodes))).toEqual({});
});
