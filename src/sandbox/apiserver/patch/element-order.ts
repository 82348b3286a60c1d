/** Tells whether two items of a list are the same one. */
export type SameItem = (one: unknown, other: unknown) => boolean;

export interface Orders {
  /** The order somebody asks for: items of it follow each other as there. */
  wanted: readonly unknown[];
  /** The order the server had, which decides where the rest goes. */
  live: readonly unknown[];
  same: SameItem;
}

/** Sorts a merged list: items of the wanted order keep that order, the others stay in front of what they preceded. */
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

/** Whether the items of a patch appear in the order it asks for, and all of them do. */
export function followsOrder(items: readonly unknown[], wanted: readonly unknown[], same: SameItem): boolean {
  let next = 0;
  for (const item of wanted) if (next < items.length && same(items[next], item)) next += 1;
  return next === items.length;
}

function sortBy(items: readonly unknown[], place: (item: unknown) => number): unknown[] {
  return items.toSorted((one, other) => place(one) - place(other));
}
