import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StatusError } from '../status.ts';
import { builtInType } from './built-in-types.ts';
import { type MergeType, plain } from './merge-type.ts';
import { strategicMerge } from './strategic-merge.ts';

type Json = Record<string, unknown>;

const byName: MergeType = { is: 'list', item: plain, mergeBy: 'name' };
const nested: MergeType = {
  is: 'list',
  item: { is: 'object', fields: { env: byName } },
  mergeBy: 'name',
};

/** An object with a list of each sort. */
const type: MergeType = {
  is: 'object',
  fields: {
    byName,
    nested,
    scalars: { is: 'list', item: plain, mergeBy: '' },
    replaced: { is: 'replaced' },
  },
};

const a = { name: 'a', v: 1 };
const b = { name: 'b', v: 2 };
const c = { name: 'c', v: 3 };

const cases: [string, Json, Json, Json][] = [
  // Objects and scalars, as by a merge patch.
  ['sets a member', { x: 1 }, { y: 2 }, { x: 1, y: 2 }],
  ['removes a member', { x: 1, y: 2 }, { x: null }, { y: 2 }],
  ['removes what is not there', { x: 1 }, { y: null }, { x: 1 }],
  ['merges objects', { o: { x: 1 } }, { o: { y: 2 } }, { o: { x: 1, y: 2 } }],
  ['drops nulls inside a new object', {}, { o: { x: null, y: 1 } }, { o: { y: 1 } }],
  ['replaces a list nobody knows', { l: [1, 2] }, { l: [3] }, { l: [3] }],
  ['replaces a text by an object', { o: 'x' }, { o: { y: 1 } }, { o: { y: 1 } }],
  ['replaces an object by a text', { o: { y: 1 } }, { o: 'x' }, { o: 'x' }],
  ['replaces what is always replaced', { replaced: { x: 1 } }, { replaced: { y: 2 } }, { replaced: { y: 2 } }],
  ['changes nothing with an empty patch', { x: [1] }, {}, { x: [1] }],
  // Directives of objects.
  ['replaces an object on request', { o: { x: 1 } }, { o: { $patch: 'replace', y: 2 } }, { o: { y: 2 } }],
  ['empties an object on request', { o: { x: 1 } }, { o: { $patch: 'delete' } }, { o: {} }],
  ['makes nothing out of the deletion of nothing', {}, { o: { $patch: 'delete' } }, {}],
  ['replaces the whole object', { x: 1 }, { $patch: 'replace', y: 2 }, { y: 2 }],
  ['replaces nothing by something', {}, { o: { $patch: 'replace', y: 2 } }, { o: { y: 2 } }],
  ['keeps only retained members', { o: { x: 1, y: 2 } }, { o: { $retainKeys: ['y'] } }, { o: { y: 2 } }],
  ['sets retained members', { o: { x: 1 } }, { o: { $retainKeys: ['y'], y: 2 } }, { o: { y: 2 } }],
  [
    'lets a patch remove members it does not retain',
    { o: { x: 1, z: 1 } },
    { o: { $retainKeys: ['z'], x: null } },
    { o: { z: 1 } },
  ],
  // Lists of objects.
  ['merges items by their key', { byName: [a, b] }, { byName: [{ name: 'b', w: 5 }] }, { byName: [a, { ...b, w: 5 }] }],
  ['puts new items in front', { byName: [a] }, { byName: [b] }, { byName: [b, a] }],
  ['keeps the order of items that stay', { byName: [a, b, c] }, { byName: [{ ...b }] }, { byName: [a, b, c] }],
  ['brings patched items into the order of the patch', { byName: [a, b] }, { byName: [b, a] }, { byName: [b, a] }],
  ['makes a list', {}, { byName: [a, b] }, { byName: [a, b] }],
  ['keeps an empty list', { byName: [] }, { byName: [] }, { byName: [] }],
  ['deletes an item', { byName: [a, b] }, { byName: [{ name: 'a', $patch: 'delete' }] }, { byName: [b] }],
  [
    'deletes an item that is not there',
    { byName: [a] },
    { byName: [{ name: 'z', $patch: 'delete' }] },
    { byName: [a] },
  ],
  ['deletes from no list', {}, { byName: [{ name: 'z', $patch: 'delete' }] }, { byName: [] }],
  [
    'deletes every item of a name',
    { byName: [a, { ...a }] },
    { byName: [{ name: 'a', $patch: 'delete' }] },
    { byName: [] },
  ],
  ['deletes one and sets another', { byName: [a] }, { byName: [{ name: 'a', $patch: 'delete' }, b] }, { byName: [b] }],
  ['replaces the list on request', { byName: [a, b] }, { byName: [{ $patch: 'replace' }, c] }, { byName: [c] }],
  ['empties the list on request', { byName: [a, b] }, { byName: [{ $patch: 'replace' }] }, { byName: [] }],
  ['removes a member of an item', { byName: [a] }, { byName: [{ name: 'a', v: null }] }, { byName: [{ name: 'a' }] }],
  [
    'replaces an item on request',
    { byName: [{ ...a, w: 1 }] },
    { byName: [{ name: 'a', o: { $patch: 'replace', x: 1 } }] },
    { byName: [{ ...a, w: 1, o: { x: 1 } }] },
  ],
  [
    'merges lists inside items',
    { nested: [{ name: 'x', env: [a, b], args: ['1'] }] },
    { nested: [{ name: 'x', env: [{ name: 'a', v: 9 }], args: ['2'] }] },
    { nested: [{ name: 'x', env: [{ name: 'a', v: 9 }, b], args: ['2'] }] },
  ],
  [
    'leaves directives out of new items',
    {},
    { nested: [{ name: 'x', env: [{ name: 'a', $patch: 'delete' }] }] },
    { nested: [{ name: 'x', env: [] }] },
  ],
  ['leaves directives out of replaced lists', { l: [1] }, { l: [{ $patch: 'replace' }, { x: 1 }] }, { l: [{ x: 1 }] }],
  // Lists of scalars.
  ['adds scalars in front', { scalars: ['a', 'b'] }, { scalars: ['c'] }, { scalars: ['c', 'a', 'b'] }],
  ['adds no scalar twice', { scalars: ['a', 'b'] }, { scalars: ['b', 'c', 'c'] }, { scalars: ['a', 'b', 'c'] }],
  ['removes the list of scalars', { scalars: ['a'] }, { scalars: null }, {}],
  [
    'deletes scalars',
    { scalars: ['a', 'b', 'c'] },
    { '$deleteFromPrimitiveList/scalars': ['a', 'c'] },
    { scalars: ['b'] },
  ],
  [
    'deletes scalars that are not there',
    { scalars: ['a'] },
    { '$deleteFromPrimitiveList/scalars': ['x'] },
    { scalars: ['a'] },
  ],
  ['deletes scalars from nothing', { x: 1 }, { '$deleteFromPrimitiveList/scalars': ['x'] }, { x: 1 }],
  [
    'deletes and adds scalars at once',
    { scalars: ['a', 'b'] },
    { '$deleteFromPrimitiveList/scalars': ['a'], scalars: ['c'] },
    { scalars: ['c', 'b'] },
  ],
  // Order.
  [
    'orders scalars',
    { scalars: ['a', 'b', 'c'] },
    { '$setElementOrder/scalars': ['c', 'a'] },
    { scalars: ['b', 'c', 'a'] },
  ],
  [
    'orders scalars that it adds',
    { scalars: ['a', 'b'] },
    { '$setElementOrder/scalars': ['b', 'x', 'a'], scalars: ['x'] },
    { scalars: ['b', 'x', 'a'] },
  ],
  [
    'orders items',
    { byName: [a, b, c] },
    { '$setElementOrder/byName': [{ name: 'c' }, { name: 'b' }] },
    { byName: [a, c, b] },
  ],
  [
    'orders items that it adds',
    { byName: [a, b] },
    { '$setElementOrder/byName': [{ name: 'b' }, { name: 'c' }, { name: 'a' }], byName: [c] },
    { byName: [b, c, a] },
  ],
  [
    'orders while it deletes',
    { byName: [a, b, c] },
    { '$setElementOrder/byName': [{ name: 'c' }, { name: 'a' }], byName: [{ name: 'b', $patch: 'delete' }] },
    { byName: [c, a] },
  ],
  ['orders nothing', { x: 1 }, { '$setElementOrder/byName': [{ name: 'c' }] }, { x: 1 }],
  ['orders an unknown list by value', { l: [1, 2] }, { '$setElementOrder/l': [2, 1] }, { l: [2, 1] }],
];

test.each(cases)('%s', (_name, target, patch, want) => {
  expect(strategicMerge(type, target, patch)).toEqual(want);
});

test('takes null for an empty patch', () => {
  expect(strategicMerge(type, { x: 1 }, null)).toEqual({ x: 1 });
});

const refused: [string, Json, unknown, number, string][] = [
  ['a list for a patch', {}, [], 400, 'must be an object'],
  ['a text for a patch', {}, 'x', 400, 'must be an object'],
  ['a member to retain that is not listed', {}, { o: { $retainKeys: ['y'], x: 1 } }, 400, 'retainKeys'],
  ['members to retain that are no list', {}, { o: { $retainKeys: 'x' } }, 400, 'retainKeys'],
  [
    'deletions that are no list',
    { scalars: ['a'] },
    { '$deleteFromPrimitiveList/scalars': 'a' },
    400,
    'primitive list',
  ],
  ['an order that is no list', { scalars: ['a'] }, { '$setElementOrder/scalars': 'a' }, 500, 'must be a list'],
  [
    'an order without the items of the patch',
    { scalars: ['a'] },
    { '$setElementOrder/scalars': ['a'], scalars: ['x'] },
    500,
    '["x"]\n doesn\'t match $setElementOrder list:\n["a"]',
  ],
  [
    'an order against that of the patch',
    { byName: [a] },
    { '$setElementOrder/byName': [{ name: 'b' }, { name: 'a' }], byName: [a, b] },
    500,
    "doesn't match $setElementOrder",
  ],
  ['an unknown directive', { o: { x: 1 } }, { o: { $patch: 'frob' } }, 500, 'unknown patch type: frob'],
  [
    'a directive to merge',
    { byName: [a] },
    { byName: [{ name: 'a', $patch: 'merge' }] },
    500,
    'unknown patch type: merge',
  ],
  ['a directive that is no text', { o: {} }, { o: { $patch: 5 } }, 500, 'unknown patch type: 5'],
  [
    'an item without its key',
    { byName: [a] },
    { byName: [{ v: 1 }] },
    500,
    'does not contain declared merge key: name',
  ],
  ['a new item without its key', {}, { byName: [{ v: 1 }] }, 500, 'declared merge key: name'],
  ['a deletion without its key', { byName: [a] }, { byName: [{ $patch: 'delete' }] }, 500, 'declared merge key: name'],
  ['a live item without its key', { byName: [{ v: 1 }] }, { byName: [a] }, 500, 'declared merge key: name'],
  ['an item that is no object', { byName: [a] }, { byName: ['a'] }, 500, 'not identical'],
  ['a list of lists', { l: [1] }, { l: [[1]] }, 422, 'rejected'],
];

test.each(refused)('rejects %s', (...[, target, patch, code, says]) => {
  const status = statusOf(() => strategicMerge(type, target, patch));
  expect(status?.code).toBe(code);
  expect(status?.message).toContain(says);
});

test('sets the conditions of a Node as the kubelet does', () => {
  const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: '1' };
  const disk = { type: 'DiskPressure', status: 'False', lastHeartbeatTime: '1' };
  const node = { status: { conditions: [disk, ready], addresses: [{ type: 'InternalIP', address: '1.1.1.1' }] } };
  const patch = {
    status: {
      '$setElementOrder/conditions': [{ type: 'DiskPressure' }, { type: 'Ready' }],
      conditions: [
        { lastHeartbeatTime: '2', type: 'DiskPressure' },
        { lastHeartbeatTime: '2', type: 'Ready' },
      ],
    },
  };
  expect(strategicMerge(builtInType('', 'Node'), node, patch)).toEqual({
    status: {
      conditions: [
        { ...disk, lastHeartbeatTime: '2' },
        { ...ready, lastHeartbeatTime: '2' },
      ],
      addresses: [{ type: 'InternalIP', address: '1.1.1.1' }],
    },
  });
});

test('replaces taints and tolerations, which have no keys', () => {
  const taints = [{ key: 'b', effect: 'NoSchedule' }];
  const node = { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } };
  expect(strategicMerge(builtInType('', 'Node'), node, { spec: { taints } })).toEqual({ spec: { taints } });
});

test('changes one variable of one container', () => {
  const target = { spec: { containers: [{ name: 'x', image: 'i', env: [{ name: 'A', value: '1' }] }, { name: 'y' }] } };
  const patch = { spec: { containers: [{ name: 'x', env: [{ name: 'A', value: '2' }] }] } };
  expect(strategicMerge(builtInType('', 'Pod'), target, patch)).toEqual({
    spec: { containers: [{ name: 'x', image: 'i', env: [{ name: 'A', value: '2' }] }, { name: 'y' }] },
  });
});

test('replaces the conditions of a certificate request, which have no merge key', () => {
  const type = builtInType('certificates.k8s.io', 'CertificateSigningRequest');
  const target = { status: { conditions: [{ type: 'Approved', status: 'True' }] } };
  const patch = { status: { conditions: [{ type: 'Failed', status: 'True' }] } };
  expect(strategicMerge(type, target, patch)).toEqual(patch);
});

test('leaves frozen objects alone', () => {
  const target = Object.freeze({ byName: Object.freeze([Object.freeze({ ...a })]), o: Object.freeze({ x: 1 }) });
  const result = strategicMerge(type, target, { byName: [{ name: 'a', v: 7 }], o: { $retainKeys: [] } });
  expect(result).toEqual({ byName: [{ name: 'a', v: 7 }], o: {} });
  expect(target).toEqual({ byName: [a], o: { x: 1 } });
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const item = fc.record({ name, v: fc.integer({ min: 0, max: 2 }) });
const items = fc.uniqueArray(item, { selector: ({ name }) => name, maxLength: 4 });
const target = fc.record(
  { byName: items, scalars: fc.uniqueArray(name, { maxLength: 4 }), o: fc.dictionary(name, fc.integer()) },
  { requiredKeys: [] },
);
const patchItem = fc.oneof(
  item,
  fc.record({ name, $patch: fc.constant('delete') }),
  fc.record({ name, w: fc.constantFrom(null, 1) }),
);
const patch = fc.record(
  {
    byName: fc.oneof(fc.uniqueArray(patchItem, { selector: ({ name }) => name, maxLength: 4 }), fc.constant(null)),
    scalars: fc.uniqueArray(name, { maxLength: 3 }),
    o: fc.dictionary(name, fc.constantFrom(null, 1, 2)),
  },
  { requiredKeys: [] },
);

test('is idempotent: applying a patch twice is applying it once', () => {
  fc.assert(
    fc.property(target, patch, (target, patch) => {
      const once = strategicMerge(type, target, patch);
      expect(strategicMerge(type, once, patch)).toEqual(once);
    }),
    { numRuns: 3000 },
  );
});

test('keeps exactly the items that are not deleted', () => {
  fc.assert(
    fc.property(items, fc.uniqueArray(patchItem, { selector: ({ name }) => name }), (live, patch) => {
      const result = strategicMerge(type, { byName: live }, { byName: patch })['byName'] as { name: string }[];
      const deleted = patch.filter(item => '$patch' in item).map(({ name }) => name);
      const want = new Set([...live, ...patch].map(({ name }) => name).filter(name => !deleted.includes(name)));
      expect(result.map(({ name }) => name).toSorted()).toEqual([...want].toSorted());
    }),
    { numRuns: 2000 },
  );
});

test('never lets a directive into the object', () => {
  const any = fc.dictionary(fc.constantFrom('byName', 'o', '$patch', 'scalars'), fc.oneof(patch, patchItem, items));
  fc.assert(
    fc.property(target, any, (target, patch) => {
      const result = outcome(() => strategicMerge(type, target, patch));
      expect(JSON.stringify(result ?? {})).not.toContain('$patch');
    }),
    { numRuns: 2000 },
  );
});

test('throws only StatusErrors', () => {
  const directives = fc.constantFrom(
    '$patch',
    '$retainKeys',
    '$setElementOrder/byName',
    '$deleteFromPrimitiveList/l',
    'l',
  );
  const any = fc.dictionary(fc.oneof(directives, fc.constantFrom('byName', 'scalars', 'o')), fc.jsonValue());
  fc.assert(
    fc.property(any, any, (target, patch) => {
      outcome(() => strategicMerge(type, target, patch));
    }),
    { numRuns: 3000 },
  );
});

/** The result, or undefined for a refusal; anything else thrown is a failure of the test. */
function outcome(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return undefined;
  }
}

function statusOf(run: () => unknown): StatusError['status'] | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as StatusError).status;
  }
}
