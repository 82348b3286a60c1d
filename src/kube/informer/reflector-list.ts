import type { Client, ListOptions } from '../client.ts';
import { admit } from './reflector-objects.ts';
import type { KubeResource, Resource } from '../resource.ts';

export interface Listed<T> {
  objects: T[];
  /** Where a watch has to go on. */
  resourceVersion: string;
  /** How many objects had no name and were left out. */
  ignored: number;
}

const maxPages = 10_000;

/** Lists page by page; each page is made fit for the store while it comes, so that no full copy of the raw answer is held. */
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
      const object = admit(resource, item);
      if (object === undefined) ignored += 1;
      else objects.push(object);
    }
    // All pages are of one moment, and the first one names it for sure.
    resourceVersion ||= page.metadata.resourceVersion ?? '';
    token = page.metadata.continue ?? '';
  }
  if (resourceVersion === '') throw new Error(`the list of ${resource.plural} has no resourceVersion`);
  return { objects, resourceVersion, ignored };
}

/** The token holds the resourceVersion; to name one as well is an error. */
function nextPage(options: ListOptions, token: string): ListOptions {
  const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
  return { ...rest, continue: token };
}
