import { parseDocument } from 'yaml';
import { jsonIn } from './fields.ts';
import { hasCollectionKeys } from './yaml-keys.ts';

/** Real documents have few aliases; thousands are an attack. */
const maxAliases = 16;

/** Parses one document of YAML or JSON; undefined when invalid. Callers limit the length of the text. */
export function yamlIn(text: string): unknown {
  const json = jsonIn(text);
  if (json !== undefined) return json;
  try {
    // Pretty errors and the search for duplicate keys take quadratic time.
    const document = parseDocument(text, { logLevel: 'error', prettyErrors: false, uniqueKeys: false });
    if (document.errors.length > 0 || hasCollectionKeys(document)) return undefined;
    return document.toJS({ maxAliasCount: maxAliases });
  } catch {
    // The message of the parser may quote a secret.
    return undefined;
  }
}
