import { type Document, isAlias, isCollection, visit } from 'yaml';

/**
 * True when a map of the document has a list, a map or an alias as key. No Kubernetes object has one, and the library
 * needs minutes to convert such a key of 2 kB to text.
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
