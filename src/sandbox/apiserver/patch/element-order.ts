/** Whether two items have the same key. */
export type SameItem = (one: unknown, other: unknown) => boolean;

export interface Orders {
  /** The requested order. */
  wanted: readonly unknown[];
  /** The current order; it decides where other items go. */
  live: readonly unknown[];
  same: SameItem;
}

/** Sorts a merged list: `wanted` items in their order, others before the items that they preceded. */
export function inOrder(items: readonly unknown[], { wanted, live, same }: Orders): unknown[] {
  const place = (order: readonly unknown[], item: unknown): number => order.findIndex(other => same(other, item));
  const asked = sortBy(
    items.filter(item => place(wanted, item) >= 0),
    item => place(wanted, item),
  );
  const rest = sortBy(
    items.filter(item => place(wanted, item) < 0),
    item => place(live, item),
  );
  const sorted: unknown[] = [];
  while (rest.length > 0 && asked.length > 0) {
    const [left, right] = [place(live, rest[0]), place(live, asked[0])];
    const restFirst = left >= 0 && right >= 0 && left < right;
    sorted.push((restFirst ? rest : asked).shift());
  }
  return [...sorted, ...rest, ...asked];
}

/** Whether all items occur in `wanted`, in that order. */
export function followsOrder(items: readonly unknown[], wanted: readonly unknown[], same: SameItem): boolean {
  let next = 0;
  for (const item of wanted) if (next < items.length && same(items[next], item)) next += 1;
  return next === items.length;
}

function sortBy(items: readonly unknown[], place: (item: unknown) => number): unknown[] {
  return items.toSorted((one, other) => place(one) - place(other));
}
