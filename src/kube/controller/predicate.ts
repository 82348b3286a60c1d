/** Which changes are worth a pass. A change for which nothing is said is let through. */
export interface Predicate<T> {
  added?(object: T): boolean;
  updated?(old: T, object: T): boolean;
  deleted?(object: T): boolean;
  /** An object found again after changes had to be refused: whatever happened to it may have been worth a pass. */
  relisted?(object: T): boolean;
}

/** Objects of one sort only, whatever happens to them. */
export function matching<T>(isWanted: (object: T) => boolean): Required<Predicate<T>> {
  return {
    added: isWanted,
    updated: (_old, object) => isWanted(object),
    deleted: isWanted,
    relisted: isWanted,
  };
}

/** Updates only where something differs between the old and the new object. */
export function changed<T>(part: (object: T) => unknown): Predicate<T> {
  return { updated: (old, object) => JSON.stringify(part(old)) !== JSON.stringify(part(object)) };
}

/** Such changes as every one of these lets through. */
export function allOf<T>(...predicates: readonly Predicate<T>[]): Required<Predicate<T>> {
  return {
    added: object => predicates.every(each => each.added?.(object) ?? true),
    updated: (old, object) => predicates.every(each => each.updated?.(old, object) ?? true),
    deleted: object => predicates.every(each => each.deleted?.(object) ?? true),
    relisted: object => predicates.every(each => each.relisted?.(object) ?? true),
  };
}

/** Such changes as at least one of these lets through. */
export function anyOf<T>(...predicates: readonly Predicate<T>[]): Required<Predicate<T>> {
  return {
    added: object => predicates.some(each => each.added?.(object) ?? true),
    updated: (old, object) => predicates.some(each => each.updated?.(old, object) ?? true),
    deleted: object => predicates.some(each => each.deleted?.(object) ?? true),
    relisted: object => predicates.some(each => each.relisted?.(object) ?? true),
  };
}
