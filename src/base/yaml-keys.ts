import { type Document, isAlias, isCollection, visit } from 'yaml';

/**
 * True when a map of the document has a list, a map or an alias as key. No Kubernetes object has, and the library turns
 * such a key into text in a time that grows with more than the fourth power of its depth: a file of 2 kB takes minutes.
 */
export function hasCollectionKeys(document: Document): boolean {
  let found = false;
  visit(document, {
    Pair: (_, { key }) => {
      if (!isCollection(key) && !isAlias(key)) return undefined;
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}
