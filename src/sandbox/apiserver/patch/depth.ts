/** No real object comes near it, and everything that walks an object can go so deep. */
const maxDepth = 500;

/** Whether a value has more levels than anything here goes down. Does not recurse itself. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.flatMap(item => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
  return false;
}
