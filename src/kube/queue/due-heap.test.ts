import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Due, DueHeap } from './due-heap.ts';

interface Item extends Due {
  name: string;
}

const item = (name: string): Item => ({ name, dueMs: 0, place: -1 });

/** Takes everything out, the earliest first. */
function emptied(heap: DueHeap<Item>): [string, number][] {
  const taken: [string, number][] = [];
  for (let first = heap.first(); first !== undefined; first = heap.first()) {
    taken.push([first.name, first.dueMs]);
    heap.remove(first);
  }
  return taken;
}

function filled(...times: number[]): { heap: DueHeap<Item>; items: Item[] } {
  const heap = new DueHeap<Item>();
  const items = times.map((_, index) => item(`i${index}`));
  for (const [index, each] of items.entries()) heap.put(each, times[index] ?? 0);
  return { heap, items };
}

test('is empty at first', () => {
  const heap = new DueHeap<Item>();
  expect([heap.size, heap.first()]).toEqual([0, undefined]);
});

test('has the earliest first', () => {
  expect(emptied(filled(30, 10, 20).heap)).toEqual([
    ['i1', 10],
    ['i2', 20],
    ['i0', 30],
  ]);
});

test('moves what is put again, to an earlier or a later time', () => {
  const { heap, items } = filled(10, 20, 30);
  heap.put(items[2] as Item, 5);
  expect(heap.first()?.name).toBe('i2');
  heap.put(items[2] as Item, 25);
  expect(emptied(heap).map(([name]) => name)).toEqual(['i0', 'i1', 'i2']);
});

test('an item put twice is in it once', () => {
  const { heap, items } = filled(10);
  heap.put(items[0] as Item, 20);
  expect(heap.size).toBe(1);
});

test('forgets what is removed, wherever it is', () => {
  for (const index of [0, 1, 2, 3, 4]) {
    const { heap, items } = filled(10, 20, 30, 40, 50);
    heap.remove(items[index] as Item);
    expect(items[index]?.place).toBe(-1);
    expect(emptied(heap).map(([name]) => name)).toEqual(
      ['i0', 'i1', 'i2', 'i3', 'i4'].filter(name => name !== `i${index}`),
    );
  }
});

test('removing what is not in it changes nothing', () => {
  const { heap } = filled(10);
  heap.remove(item('stranger'));
  expect(heap.size).toBe(1);
});

test('what was removed can come back', () => {
  const { heap, items } = filled(10, 20);
  heap.remove(items[0] as Item);
  heap.put(items[0] as Item, 30);
  expect(emptied(heap).map(([name]) => name)).toEqual(['i1', 'i0']);
});

test('keeps the order whatever is put, moved and removed', () => {
  const step = fc.record({ index: fc.nat(15), due: fc.option(fc.nat(50), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const heap = new DueHeap<Item>();
      const items = Array.from({ length: 16 }, (_, index) => item(`i${index}`));
      const model = new Map<string, number>();
      for (const { index, due } of steps) {
        const each = items[index] as Item;
        if (due === undefined) heap.remove(each);
        else heap.put(each, due);
        if (due === undefined) model.delete(each.name);
        else model.set(each.name, due);
        expect(heap.size).toBe(model.size);
        expect(heap.first()?.dueMs).toBe(model.size === 0 ? undefined : Math.min(...model.values()));
      }
      const taken = emptied(heap);
      expect(taken.map(([, due]) => due)).toEqual([...model.values()].sort((a, b) => a - b));
      expect(new Map(taken)).toEqual(model);
    }),
    { numRuns: 1000 },
  );
});
