import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { clientTo, nodes } from '../../../test/kit/scripted-client.ts';
import { type Handler, json } from '../../../test/kit/tls-server.ts';
import type { ClientOptions } from '../http-client.ts';
import type { KubeResource } from '../resource.ts';

async function listing(handler: Handler, options: ClientOptions = {}) {
  const { client, seen } = await clientTo(handler, options);
  return { client, queries: () => seen.map(({ path }) => Object.fromEntries(new URLSearchParams(path.split('?')[1]))) };
}

const names = (list: { items: KubeResource[] }) => list.items.map(item => item.metadata.name).join('');

/** Serves letters in pages of the size asked for. Built-in kinds write the metadata first, custom ones last. */
function letters(all: string, order: 'metadata first' | 'metadata last' = 'metadata first'): Handler {
  return ({ path }, answer) => {
    const query = new URL(path, 'https://x').searchParams;
    const start = Number(query.get('continue') ?? 0);
    const end = start + Number(query.get('limit') ?? all.length);
    const metadata = {
      resourceVersion: '7',
      ...(end < all.length && { continue: String(end), remainingItemCount: all.length - end }),
    };
    const items = all
      .slice(start, end)
      .split('')
      .map(name => ({ metadata: { name } }));
    const built = { kind: 'NodeList', apiVersion: 'v1', metadata, items };
    json(answer, 200, order === 'metadata first' ? built : { apiVersion: 'v1', items, kind: 'NodeList', metadata });
  };
}

for (const order of ['metadata first', 'metadata last'] as const) {
  for (const pageSize of [1, 2, 3, 7, 100]) {
    test(`puts pages of ${pageSize} together, ${order}`, async () => {
      const { client, queries } = await listing(letters('abcdefg', order), { pageSize });
      const list = await client.listAll(nodes, { labelSelector: 'a=b' });
      expect(names(list)).toBe('abcdefg');
      expect(list.metadata).toEqual({ resourceVersion: '7' });
      expect(list.kind).toBe('NodeList');
      expect(queries()).toHaveLength(Math.ceil(7 / pageSize));
      expect(queries().every(query => query.labelSelector === 'a=b' && query.limit === String(pageSize))).toBe(true);
    });
  }
}

test('sends the resourceVersion with the first page only', async () => {
  const { client, queries } = await listing(letters('abc'), { pageSize: 2 });
  await client.listAll(nodes, { resourceVersion: '5', resourceVersionMatch: 'Exact' });
  expect(queries()).toEqual([
    { resourceVersion: '5', resourceVersionMatch: 'Exact', limit: '2' },
    { limit: '2', continue: '2' },
  ]);
});

test('uses limit and continue of the call', async () => {
  const { client, queries } = await listing(letters('abcdef'));
  expect(names(await client.listAll(nodes, { limit: 4, continue: '1' }))).toBe('bcdef');
  expect(queries()).toEqual([
    { limit: '4', continue: '1' },
    { limit: '4', continue: '5' },
  ]);
});

test('one page is one page', async () => {
  const { client, queries } = await listing(letters('abcdef'));
  const page = await client.list(nodes, { limit: 2 });
  expect(names(page)).toBe('ab');
  expect(page.metadata).toMatchObject({ continue: '2', remainingItemCount: 4 });
  await delay(20);
  expect(queries()).toHaveLength(1);
});

test('asks for the next page before the last has ended, when it can know the token', async () => {
  const first = Promise.withResolvers<void>();
  const { client } = await listing((request, answer, turn) => {
    if (turn > 1) {
      first.resolve();
      return letters('abcd')(request, answer, turn);
    }
    answer.write('{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"2"},"items":[');
    // The first page ends only when the second has been asked for.
    return first.promise.then(() => void answer.end('{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}'));
  });
  expect(names(await client.listAll(nodes, { limit: 2 }))).toBe('abcd');
});

test('does not use a page that was asked for too early', async () => {
  const { client, queries } = await listing((request, answer, turn) => {
    if (turn > 1) return letters('abcd')(request, answer, turn);
    // A member of the same name that comes later is the one that counts.
    answer.write(
      '{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"3","resourceVersion":"7","continue":"2"},"items":[',
    );
    return void answer.end('{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}');
  });
  expect(names(await client.listAll(nodes, { limit: 2 }))).toBe('abcd');
  expect(queries().map(query => query.continue)).toEqual([undefined, '3', '2']);
});

test('ignores a failed page ahead when the list has ended', async () => {
  const { client } = await listing((_, answer, turn) => {
    if (turn > 1) return void answer.socket?.destroy();
    return void answer.end(
      '{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":"3","continue":""},"items":[]}',
    );
  });
  expect((await client.listAll(nodes)).items).toEqual([]);
});

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };

test('lists everything at once when the token expires on the way', async () => {
  const { client, queries } = await listing(
    (request, answer, turn) => (turn === 2 ? json(answer, 410, expired) : letters('abcde')(request, answer, turn)),
    { pageSize: 2 },
  );
  expect(names(await client.listAll(nodes, { labelSelector: 'x', resourceVersion: '5' }))).toBe('abcde');
  expect(queries().at(-1)).toEqual({ labelSelector: 'x', resourceVersion: '5' });
});

test('reports an expired token that the caller gave, or that expires again', async () => {
  const { client, queries } = await listing((_, answer) => json(answer, 410, expired));
  await expect(client.listAll(nodes, { continue: 'x' })).rejects.toMatchObject({ code: 410 });
  expect(queries()).toHaveLength(1);
  await expect(client.listAll(nodes)).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  expect(queries()).toHaveLength(3);
});

test('reports any other refusal on the way', async () => {
  const { client } = await listing(
    (request, answer, turn) => (turn === 3 ? json(answer, 500, {}) : letters('abcdef')(request, answer, turn)),
    { pageSize: 2 },
  );
  await expect(client.listAll(nodes)).rejects.toMatchObject({ code: 500 });
});

const managed = { metadata: { name: 'a', managedFields: [{ manager: 'x' }] } };

test('removes managedFields from a single page and from all pages', async () => {
  const serve: Handler = (_, answer) =>
    json(answer, 200, { kind: 'NodeList', apiVersion: 'v1', metadata: {}, items: [managed] });
  const { client } = await listing(serve);
  expect((await client.list(nodes)).items).toEqual([{ metadata: { name: 'a' } }]);
  expect((await client.listAll(nodes)).items).toEqual([{ metadata: { name: 'a' } }]);
});

const shapes: [string, unknown, unknown][] = [
  ['null items', { metadata: {}, items: null }, { metadata: {}, items: [] }],
  ['no items', { metadata: {} }, { metadata: {}, items: [] }],
  ['no metadata', { items: [] }, { metadata: {}, items: [] }],
];
for (const [name, answer, want] of shapes) {
  test(`takes a list with ${name}`, async () => {
    const { client } = await listing((_, to) => json(to, 200, answer));
    expect(await client.listAll(nodes)).toEqual(want);
  });
}

for (const answer of [null, 5, 'text', { items: {} }, { items: 'x' }]) {
  test(`rejects ${JSON.stringify(answer)} as a list`, async () => {
    const { client } = await listing((_, to) => json(to, 200, answer));
    await expect(client.list(nodes)).rejects.toMatchObject({
      code: 'API_ANSWER_INVALID',
      message: 'GET /api/v1/nodes: the response is not a list',
    });
  });
}

test('a page that does not come ends at the deadline', async () => {
  const { client } = await listing(
    (request, answer, turn) => (turn === 2 ? undefined : letters('abcd')(request, answer, turn)),
    { pageSize: 2, timeoutMs: 60 },
  );
  await expect(client.listAll(nodes)).rejects.toMatchObject({ code: 'API_DEADLINE' });
});

test('an aborted list leaves no request', async () => {
  const caller = new AbortController();
  let closed = 0;
  const { client } = await listing(
    (request, answer, turn) => {
      if (turn === 1) return letters('abcd')(request, answer, turn);
      answer.once('close', () => (closed += 1));
      return caller.abort(new Error('enough'));
    },
    { pageSize: 2 },
  );
  await expect(client.listAll(nodes, { signal: caller.signal })).rejects.toThrow('enough');
  await expect.poll(() => closed).toBe(1);
});
