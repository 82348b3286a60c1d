/** Selects the changes that cause a pass. A missing member selects all. */
export interface Predicate<T> {
  added?(object: T): boolean;
  updated?(old: T, object: T): boolean;
  deleted?(object: T): boolean;
  /** For an object that is relisted because the queue had rejected changes. */
  relisted?(object: T): boolean;
}

/** Selects all changes of matching objects. */
export function matching<T>(isWanted: (object: T) => boolean): Required<Predicate<T>> {
  return {
    added: isWanted,
    updated: (_old, object) => isWanted(object),
    deleted: isWanted,
    relisted: isWanted,
  };
}

/** Selects updates that change this part of the object. */
export function changed<T>(part: (object: T) => unknown): Predicate<T> {
  return { updated: (old, object) => JSON.stringify(part(old)) !== JSON.stringify(part(object)) };
}

/** Selects changes that all predicates select. */
export function allOf<T>(...predicates: readonly Predicate<T>[]): Required<Predicate<T>> {
  return {
    added: object => predicates.every(each => each.added?.(object) ?? true),
    updated: (old, object) => predicates.every(each => each.updated?.(old, object) ?? true),
    deleted: object => predicates.every(each => each.deleted?.(object) ?? true),
    relisted: object => predicates.every(each => each.relisted?.(object) ?? true),
  };
}

/** Selects changes that at least one predicate selects. */
export function anyOf<T>(...predicates: readonly Predicate<T>[]): Required<Predicate<T>> {
  return {
    added: object => predicates.some(each => each.added?.(object) ?? true),
    updated: (old, object) => predicates.some(each => each.updated?.(old, object) ?? true),
    deleted: object => predicates.some(each => each.deleted?.(object) ?? true),
    relisted: object => predicates.some(each => each.relisted?.(object) ?? true),
  };
}
