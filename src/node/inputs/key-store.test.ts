import * as fc from 'fast-check';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { Secret } from '#base/secret.ts';
import { keysAnnotation, secretName } from '#contract/names.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import { secrets } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { newPrivateKey } from '../../../test/kit/new-private-key.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { KeyStore, saltMember, storedSalt } from './key-store.ts';

const name = secretName.privateKeys;
const never = new AbortController().signal;
const salt = new Secret('the salt');
const keys = Array.from({ length: 24 }, () => {
  const key = parsePrivateKey(newPrivateKey());
  return { key, hash: publicKeyHash(key.publicKey) };
});
const hashOf = (at: number) => keys[at]?.hash ?? '';
const pemOf = (at: number) => toBase64(keys[at]?.key.pem.reveal() ?? '');
const byNumber = (one: number, other: number) => one - other;
const binary = Buffer.of(0xff, 0xfe).toString('base64');

function begin() {
  const api = new WatchedApi(manualClock());
  const { log, lines } = recordedLog();
  const informer = api.informers.get(secrets, { namespace, fieldSelector: `metadata.name=${name}` });
  const open = () => new KeyStore({ client: api.client, namespace, informer, log });
  const store = open();
  const secret = () => api.peek(secrets, name, namespace);
  return {
    api,
    lines,
    open,
    store,
    secret,
    keep: (at: number, by = store) => by.keep(keys[at]?.key ?? parsePrivateKey(''), salt, never),
    prune: (needed: readonly number[]) => store.prune(hash => needed.map(hashOf).includes(hash), never),
    held: (by = store) =>
      by.keys().map(({ publicKey }) => keys.findIndex(({ hash }) => hash === publicKeyHash(publicKey))),
    put: (data: Record<string, string>, order?: string) =>
      api.put(secrets, {
        metadata: { name, namespace, ...(order !== undefined && { annotations: { [keysAnnotation.order]: order } }) },
        data,
      }),
    /** What a user does to entries; undefined removes one. */
    edit: (change: Record<string, string | undefined>) => {
      const { metadata, data } = secret() ?? { metadata: { name, namespace }, data: {} };
      const changed = Object.entries({ ...data, ...change }).filter(
        (each): each is [string, string] => each[1] !== undefined,
      );
      api.put(secrets, { metadata, data: Object.fromEntries(changed) });
    },
  };
}

test('creates the Secret with the first key and the salt, and adds further keys as the newest', async () => {
  const { keep, held, secret, api } = begin();
  expect(held()).toEqual([]);
  await keep(0);
  await keep(1);
  await keep(0);
  expect(held()).toEqual([1, 0]);
  expect(storedSalt(secret())?.reveal()).toBe('the salt');
  expect(api.calls.filter(({ verb }) => verb !== 'get').map(({ verb }) => verb)).toEqual(['patch', 'patch']);
});

test('a salt that is stored stays, and no empty one is stored', async () => {
  const { store, secret } = begin();
  const [one, two, three] = keys;
  if (!one || !two || !three) throw new Error('no keys');
  await store.keep(one.key, new Secret(''), never);
  expect(storedSalt(secret())).toBeUndefined();
  await store.keep(two.key, salt, never);
  await store.keep(three.key, new Secret('another'), never);
  expect(storedSalt(secret())?.reveal()).toBe('the salt');
});

test('deletes keys that are not needed, and keeps order and salt', async () => {
  const { keep, prune, held, secret } = begin();
  for (const at of [0, 1, 2, 3]) await keep(at);
  expect(await prune([3, 1])).toBe(2);
  expect(held()).toEqual([3, 1]);
  expect(Object.keys(secret()?.data ?? {}).sort()).toEqual([hashOf(1), hashOf(3), saltMember].sort());
  expect(await prune([3, 1])).toBe(0);
  expect(await prune([])).toBe(2);
  expect([held(), storedSalt(secret())?.reveal()]).toEqual([[], 'the salt']);
});

test('there is nothing to delete without the Secret, and none is created for that', async () => {
  const { prune, secret } = begin();
  expect([await prune([]), secret()]).toEqual([0, undefined]);
});

/** What a user made of the Secret in which keys 0 and 1 were stored; key 1 is left. */
const edits: [name: string, value: string | undefined][] = [
  ['is removed', undefined],
  ['is empty', ''],
  ['is garbage', toBase64('garbage')],
  ['is no text', binary],
  ['is no base64', '%%%'],
  ['is another key', pemOf(5)],
];
for (const [what, value] of edits) {
  test(`an entry that ${what} hides no other one, and is stored again when the key works`, async () => {
    const { keep, held, edit, secret, store } = begin();
    await keep(0);
    await keep(1);
    edit({ [hashOf(0)]: value });
    expect([held(), store.isStored(hashOf(0)), store.isStored(hashOf(1))]).toEqual([[1], false, true]);
    expect(storedSalt(secret())?.reveal()).toBe('the salt');
    await keep(0);
    expect(held()).toEqual([0, 1]);
  });
}

test('an entry that is not the key of its name is reported without its content', async () => {
  const { edit, held, lines } = begin();
  edit({ [hashOf(0)]: toBase64('planted'), [hashOf(1)]: pemOf(2), 'a-note': toBase64('planted') });
  expect(held()).toEqual([]);
  held();
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toContain('planted');
});

const orders: [name: string, order: string | undefined, want: number[]][] = [
  ['of the annotation', [2, 0, 1].map(hashOf).join(','), [1, 0, 2]],
  ['of the annotation; those that it does not name are the oldest', hashOf(1), [1]],
  [
    'of the annotation, with doubles and strange names',
    `,x,${hashOf(0)},${hashOf(9)},${hashOf(2)},${hashOf(0)},__proto__,${hashOf(1)}`,
    [1, 2, 0],
  ],
  ['that is always the same without one', undefined, []],
];
for (const [what, order, want] of orders) {
  test(`has the order ${what}`, () => {
    const { put, held, open } = begin();
    put({ [hashOf(0)]: pemOf(0), [hashOf(1)]: pemOf(1), [hashOf(2)]: pemOf(2) }, order);
    expect(held().slice(0, want.length)).toEqual(want);
    expect(held().toSorted(byNumber)).toEqual([0, 1, 2]);
    expect(held(open())).toEqual(held());
  });
}

test('a deleted Secret loses no key as long as the process runs: one that works is stored again', async () => {
  const { keep, held, api, store, open } = begin();
  await keep(0);
  await keep(1);
  expect(held()).toEqual([1, 0]);
  api.remove(secrets, name, namespace);
  expect([held(), store.isStored(hashOf(0)), held(open())]).toEqual([[1, 0], false, []]);
  await keep(0);
  expect([held(), store.isStored(hashOf(0))]).toEqual([[0], true]);
});

test('of two processes that store keys at once, none loses one', async () => {
  const { keep, held, open } = begin();
  await Promise.all([keep(0), keep(1, open()), keep(2, open())]);
  expect(held().toSorted(byNumber)).toEqual([0, 1, 2]);
});

for (const [code, reason] of [
  [403, 'Forbidden'],
  [409, 'Conflict'],
] as const) {
  test(`gives up when the server answers ${reason} every time, and works when it does not any more`, async () => {
    const { api, keep, held } = begin();
    await keep(0);
    api.calls.length = 0;
    api.before = ({ verb }) => {
      if (verb === 'patch') throw refused(code, reason);
    };
    await expect(keep(1)).rejects.toMatchObject({ reason });
    expect(api.calls.length).toBeLessThanOrEqual(10);
    api.before = () => undefined;
    await keep(1);
    expect(held()).toEqual([1, 0]);
  });
}

test('ends when the journey ends', async () => {
  const { store } = begin();
  const [one] = keys;
  await expect(store.keep(one?.key ?? parsePrivateKey(''), salt, AbortSignal.abort(new Error('over')))).rejects.toThrow(
    'over',
  );
});

test('shows no key when printed', async () => {
  const { keep, store, held } = begin();
  await keep(0);
  held();
  expect(inspect(store, { depth: 8, showHidden: true })).not.toContain('PRIVATE KEY');
  expect(inspect(store.keys(), { depth: 8 })).not.toContain('PRIVATE KEY');
});

const maxKeys = 20;

test('stores 20 keys: the oldest ones, and first those that the order does not name, make way', async () => {
  const { keep, put, held, secret } = begin();
  const foreign = Array.from({ length: 30 }, (_, at) => [String(at).padStart(64, '0'), toBase64('x')]);
  put({ ...Object.fromEntries(foreign), [hashOf(0)]: pemOf(0) }, hashOf(0));
  for (let at = 1; at < maxKeys; at += 1) await keep(at);
  expect(held()).toEqual(Array.from({ length: maxKeys }, (_, at) => maxKeys - 1 - at));
  await keep(maxKeys);
  expect(held()).toEqual(Array.from({ length: maxKeys }, (_, at) => maxKeys - at));
  expect(Object.keys(secret()?.data ?? {}).filter(each => each !== saltMember)).toHaveLength(maxKeys);
});

const someKey = fc.integer({ min: 0, max: keys.length - 1 });
const someAct = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('keep' as const), at: someKey }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('prune' as const), needed: fc.uniqueArray(someKey, { maxLength: 8 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      at: someKey,
      value: fc.constantFrom(undefined, '', toBase64('garbage'), binary, pemOf(3)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('order' as const), order: fc.array(someKey, { maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('conflict' as const), at: someKey }) },
);

type Act = typeof someAct extends fc.Arbitrary<infer T> ? T : never;

/** What the Secret should hold, the oldest first. An edit of the order, or of what is stored, makes the order unknown. */
class Model {
  readonly bench = begin();
  expected: number[] = [];
  isOrdered = true;

  async act(act: Act): Promise<void> {
    switch (act.do) {
      case 'keep':
        return this.#keep(act.at, 0);
      case 'conflict':
        return this.#keep(act.at, 2);
      case 'prune':
        await this.bench.prune(act.needed);
        this.expected = this.expected.filter(at => act.needed.includes(at));
        return;
      case 'edit':
        return this.#edit(act.at, act.value);
      case 'order':
        this.isOrdered = false;
        if (this.bench.secret() !== undefined)
          this.bench.put(this.bench.secret()?.data ?? {}, act.order.map(hashOf).join(','));
        return;
      default:
        return act satisfies never;
    }
  }

  async #keep(at: number, conflicts: number): Promise<void> {
    let left = conflicts;
    this.bench.api.before = ({ verb }) => {
      left -= verb === 'patch' ? 1 : 0;
      if (verb === 'patch' && left >= 0) throw refused(409, 'Conflict');
    };
    await this.bench.keep(at);
    this.bench.api.before = () => undefined;
    expect(this.bench.store.isStored(hashOf(at))).toBe(true);
    if (!this.expected.includes(at)) this.expected.push(at);
  }

  #edit(at: number, value: string | undefined): void {
    this.bench.edit({ [hashOf(at)]: value });
    const others = this.expected.filter(each => each !== at);
    if (value === pemOf(at)) this.isOrdered = false;
    this.expected = value === pemOf(at) ? [at, ...others] : others;
  }
}

test('whatever is stored, deleted and edited: what was stored and is still needed is there, the newest first, and never more than 20', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someAct, { maxLength: 60 }), async acts => {
      const model = new Model();
      const { held, secret } = model.bench;
      for (const act of acts) {
        await model.act(act);
        expect(held().length).toBeLessThanOrEqual(maxKeys);
        expect(new Set(held()).size).toBe(held().length);
        const isFull = Object.keys(secret()?.data ?? {}).filter(each => each !== saltMember).length >= maxKeys;
        // The oldest ones, whichever those are, have made way.
        if (isFull) model.expected = held().toReversed();
        expect(held().toSorted(byNumber)).toEqual(model.expected.toSorted(byNumber));
        if (model.isOrdered) expect(held()).toEqual(model.expected.toReversed());
      }
    }),
    { numRuns: 60 },
  );
});
