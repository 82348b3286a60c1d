/**
 * One list of all names, in which each list keeps its own order. Where lists contradict each other, the earlier list wins.
 * Names that no list orders stay as they first appear.
 */
export function mergeOrders(lists: readonly (readonly string[])[]): string[] {
  const before = new Map<string, Set<string>>();
  for (const list of lists) {
    const names = [...new Set(list)];
    names.forEach((name, index) => addName(before, name, names[index - 1]));
  }
  return sorted(before);
}

/** `before` has the names that come directly before each name. */
type Before = Map<string, Set<string>>;

function addName(before: Before, name: string, previous: string | undefined): void {
  const known = before.get(name);
  const earlier = known ?? new Set<string>();
  if (known === undefined) before.set(name, earlier);
  if (previous === undefined || earlier.has(previous)) return;
  // Nothing comes after a name that is new, so it contradicts nothing.
  if (known === undefined || !comesAfter(before, previous, name)) earlier.add(previous);
}

function comesAfter(before: Before, late: string, early: string): boolean {
  const seen = new Set([late]);
  for (const name of seen) {
    if (name === early) return true;
    for (const earlier of before.get(name) ?? []) seen.add(earlier);
  }
  return false;
}

/** There is no cycle, so each turn finds a name. */
function sorted(before: Before): string[] {
  const result = new Set<string>();
  const waiting = new Set(before.keys());
  while (waiting.size > 0) {
    const next = [...waiting].find(name => [...(before.get(name) ?? [])].every(earlier => result.has(earlier)));
    if (next === undefined) throw new Error('mirrors are ordered in a cycle');
    waiting.delete(next);
    result.add(next);
  }
  return [...result];
}
