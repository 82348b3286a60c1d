import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { NodeView } from '#contract/node.ts';
import { type Decision, decide, type UserDataFacts } from './decide.ts';

const prefix = 'windowsmachineconfig.openshift.io';
const [oldHash, newHash] = ['0'.repeat(64), 'f'.repeat(64)];

type Marks = { hash?: string; os?: string; byoh?: string };

function node(name: string, { hash, os = 'windows', byoh }: Marks = {}): NodeView {
  return {
    name,
    uid: name,
    labels: { 'kubernetes.io/os': os, ...(byoh !== undefined && { [`${prefix}/byoh`]: byoh }) },
    annotations: { [`${prefix}/version`]: 'v1', ...(hash !== undefined && { [`${prefix}/pub-key-hash`]: hash }) },
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    ready: true,
    unschedulable: false,
  };
}

function seen(nodes: NodeView[], members: Partial<UserDataFacts> = {}): UserDataFacts {
  const usernameOf = (one: NodeView) => `user-of-${one.name}`;
  return { current: 'text', wanted: 'text', nodes, publicKeyHash: newHash, usernameOf, ...members };
}

function notListed(name: string): AppError {
  return new AppError('INSTANCE_NOT_LISTED', `windows-instances: no entry for node ${name}`, { remedy: 'List it.' });
}

const secrets: [name: string, current: string | undefined, want: Decision['secret']][] = [
  ['creates a missing Secret', undefined, 'create'],
  ['rewrites a Secret that was tampered with', 'invalid data', 'update'],
  ['rewrites an emptied Secret', '', 'update'],
  ['rewrites a Secret that differs by a line end', 'text\n', 'update'],
  ['keeps a Secret that is right', 'text', 'keep'],
];

for (const [name, current, want] of secrets) {
  test(name, () => expect(decide(seen([], { current }))).toEqual({ secret: want, rotations: [], failures: [] }));
}

const kept = (name: string) => ({ node: name, host: 'kept', publicKeyHash: newHash, username: `user-of-${name}` });
const replaced = (name: string) => ({ node: name, host: 'replaced', publicKeyHash: '' });

const rotations: [name: string, marks: Marks, want: object[]][] = [
  ['a Machine with the old key is replaced', { hash: oldHash }, [replaced('n')]],
  ['a Machine with the new key stays', { hash: newHash }, []],
  ['a Machine already given up is not marked again', { hash: '' }, []],
  ['a Machine that is not configured yet has no key to change', {}, []],
  ['a host with the old key is marked anew', { hash: oldHash, byoh: 'true' }, [kept('n')]],
  ['a host with the new key stays', { hash: newHash, byoh: 'true' }, []],
  ['a host with an emptied hash is marked anew', { hash: '', byoh: 'true' }, [kept('n')]],
  ['a host without a hash is marked anew', { byoh: 'true' }, [kept('n')]],
  ['the label makes a host, whatever its value', { hash: oldHash, byoh: 'false' }, [kept('n')]],
  ['the label makes a host, even without a value', { hash: oldHash, byoh: '' }, [kept('n')]],
  ['a hash in capitals is another hash', { hash: newHash.toUpperCase() }, [replaced('n')]],
  ['a Linux node is left alone', { hash: oldHash, os: 'linux' }, []],
  ['a Linux node with the label is left alone', { hash: oldHash, os: 'linux', byoh: 'true' }, []],
];

for (const [name, marks, want] of rotations) {
  test(name, () => {
    for (const current of [undefined, 'text', 'other']) {
      expect(decide(seen([node('n', marks)], { current }))).toMatchObject({ rotations: want, failures: [] });
    }
  });
}

test('a changed text without a changed key replaces nothing', () => {
  const nodes = [
    node('m1', { hash: newHash }),
    node('m2', { hash: newHash }),
    node('b', { hash: newHash, byoh: 'true' }),
  ];
  for (const current of [undefined, 'tampered', 'script of another operator version']) {
    expect(decide(seen(nodes, { current })).rotations).toEqual([]);
  }
});

test('a rotation that was interrupted after the Secret was written goes on', () => {
  const nodes = [
    node('done', { hash: '' }),
    node('open', { hash: oldHash }),
    node('host', { hash: oldHash, byoh: 'true' }),
  ];
  expect(decide(seen(nodes))).toEqual({ secret: 'keep', rotations: [replaced('open'), kept('host')], failures: [] });
});

test('handles every node for itself and in the order given', () => {
  const nodes = [
    node('m1', { hash: oldHash }),
    node('b1', { hash: oldHash, byoh: 'true' }),
    node('l1', { os: 'linux' }),
    node('m2', { hash: newHash }),
    node('b2', { hash: newHash, byoh: 'true' }),
    node('m3', { hash: oldHash }),
  ];
  expect(decide(seen(nodes)).rotations).toEqual([replaced('m1'), kept('b1'), replaced('m3')]);
});

test('a host that is not listed is reported and holds up no other', () => {
  const usernameOf = (one: NodeView) => {
    if (one.name.startsWith('lost')) throw notListed(one.name);
    return `user-of-${one.name}`;
  };
  const byoh = { hash: oldHash, byoh: 'true' };
  const nodes = [node('lost1', byoh), node('b1', byoh), node('lost2', byoh), node('m1', { hash: oldHash })];
  const { rotations: done, failures } = decide(seen(nodes, { usernameOf }));
  expect(done).toEqual([kept('b1'), replaced('m1')]);
  expect(failures.map(({ node: name, error }) => [name, error.code])).toEqual([
    ['lost1', 'INSTANCE_NOT_LISTED'],
    ['lost2', 'INSTANCE_NOT_LISTED'],
  ]);
});

test('asks for the user name only of hosts that need one', () => {
  const asked: string[] = [];
  const usernameOf = (one: NodeView) => {
    asked.push(one.name);
    return 'Administrator';
  };
  const nodes = [
    node('machine', { hash: oldHash }),
    node('current', { hash: newHash, byoh: 'true' }),
    node('linux', { os: 'linux', byoh: 'true' }),
    node('host', { hash: oldHash, byoh: 'true' }),
  ];
  decide(seen(nodes, { usernameOf }));
  expect(asked).toEqual(['host']);
});

test('a bug in reading user names is not taken for a bad entry', () => {
  const usernameOf = () => {
    throw new TypeError('bug');
  };
  expect(() => decide(seen([node('b', { byoh: 'true' })], { usernameOf }))).toThrow(TypeError);
});

const anyNode = fc
  .record({
    name: fc.stringMatching(/^[a-z]{1,4}$/),
    hash: fc.constantFrom(undefined, '', oldHash, newHash),
    os: fc.constantFrom('windows', 'linux'),
    byoh: fc.constantFrom(undefined, 'true', ''),
  })
  .map(({ name, hash, os, byoh }) =>
    node(name, { os, ...(hash !== undefined && { hash }), ...(byoh !== undefined && { byoh }) }),
  );
const anyNodes = fc.uniqueArray(anyNode, { selector: ({ name }) => name });

test('once the marks are written there is nothing left to do', () => {
  fc.assert(
    fc.property(anyNodes, fc.constantFrom(undefined, 'text', 'other'), (nodes, current) => {
      const first = decide(seen(nodes, { current }));
      const written = nodes.map(one => {
        const rotation = first.rotations.find(({ node: name }) => name === one.name);
        if (rotation === undefined) return one;
        return { ...one, annotations: { ...one.annotations, [`${prefix}/pub-key-hash`]: rotation.publicKeyHash } };
      });
      expect(decide(seen(written))).toEqual({ secret: 'keep', rotations: [], failures: [] });
    }),
    { numRuns: 1000 },
  );
});

test('never touches a node that has the new key, and never one that is not Windows', () => {
  fc.assert(
    fc.property(anyNodes, nodes => {
      const touched = new Set(decide(seen(nodes, { current: 'other' })).rotations.map(({ node: name }) => name));
      for (const { name, labels, annotations } of nodes) {
        const current = annotations[`${prefix}/pub-key-hash`] === newHash;
        if (current || labels['kubernetes.io/os'] !== 'windows') expect(touched.has(name)).toBe(false);
      }
    }),
    { numRuns: 1000 },
  );
});
