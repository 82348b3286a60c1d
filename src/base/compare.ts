/** Order by code units, for ASCII that of the bytes: the same on every machine, unlike localeCompare. */
export function byteOrder(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Deep equality of plain data, members compared by name whatever their order. */
export function sameData(one: unknown, other: unknown): boolean {
  // JSON knows a negative zero, but it means nothing else than zero.
  if (one === other || Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && sameData(a[key], b[key]));
}
