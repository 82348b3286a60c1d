import type { Client, ListOptions } from '../client.ts';
import { prepareObject } from './reflector-objects.ts';
import type { KubeResource, Resource } from '../resource.ts';

export interface Listed<T> {
  objects: T[];
  /** Where a watch continues. */
  resourceVersion: string;
  /** Number of objects without a name, which are ignored. */
  ignored: number;
}

const maxPages = 10_000;

/** Prepares each page for the store as it arrives, to save memory. */
export async function listPages<T extends KubeResource>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  options: ListOptions,
): Promise<Listed<T>> {
  const objects: T[] = [];
  let [ignored, resourceVersion, token] = [0, '', ''];
  for (let pages = 0; pages === 0 || token !== ''; pages += 1) {
    if (pages === maxPages) throw new Error(`the list of ${resource.plural} does not end`);
    const page = await client.list(resource, token === '' ? options : nextPage(options, token));
    for (const item of page.items ?? []) {
      const object = prepareObject(resource, item);
      if (object === undefined) ignored += 1;
      else objects.push(object);
    }
    // All pages have the resourceVersion of the first one.
    resourceVersion ||= page.metadata.resourceVersion ?? '';
    token = page.metadata.continue ?? '';
  }
  if (resourceVersion === '') throw new Error(`the list of ${resource.plural} has no resourceVersion`);
  return { objects, resourceVersion, ignored };
}

/** The token includes the resourceVersion; the server rejects both together. */
function nextPage(options: ListOptions, token: string): ListOptions {
  const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
  return { ...rest, continue: token };
}
