import { isExpired } from '../api-error.ts';
import type { ListOptions } from '../client.ts';
import type { KubeList, KubeResource, Resource } from '../resource.ts';
import type { Exchange } from '../transport/exchange.ts';
import { invalidAnswer, requestName } from '../transport/failures.ts';
import { parseAnswer } from './answer.ts';
import type { Call, Caller } from './caller.ts';
import { ListText } from './list-text.ts';
import { queryText, resourcePath } from './path.ts';

/** The next page, requested before the current one is read completely. */
interface Ahead {
  token: string;
  exchange: Promise<Exchange>;
}

/** More pages than any cluster has. */
const maxPages = 100_000;

/** Lists of built-in kinds begin with their metadata, so the continue token is in the first bytes. */
const earlyToken = /^\{"kind":"\w+","apiVersion":"[^"\\]+","metadata":\{[^{}]{0,200}?"continue":"([^"\\]+)"/;
const earlyBytes = 2048;

/** Lists objects page by page; the server prepares the next page while the current one is parsed. */
export class Lister {
  readonly #caller: Caller;
  readonly #pageSize: number;

  constructor(caller: Caller, pageSize: number) {
    this.#caller = caller;
    this.#pageSize = pageSize;
  }

  async page<T extends KubeResource>(resource: Resource<T>, options: ListOptions): Promise<KubeList<T>> {
    const call = listCall(resource, options);
    return this.#read(await this.#caller.open(call), call, newText(call), () => undefined);
  }

  async all<T extends KubeResource>(resource: Resource<T>, options: ListOptions): Promise<KubeList<T>> {
    try {
      return await this.#pages(resource, { limit: this.#pageSize, ...options });
    } catch (error) {
      if (!isExpired(error) || options.continue !== undefined) throw error;
      // A single page cannot expire.
      const { limit: _, ...whole } = options;
      return this.page(resource, whole);
    }
  }

  async #pages<T extends KubeResource>(resource: Resource<T>, options: ListOptions): Promise<KubeList<T>> {
    // The token includes the resourceVersion; the server rejects both together.
    const { resourceVersion: _, resourceVersionMatch: __, ...further } = options;
    const callFor = (token: string) => listCall(resource, { ...further, continue: token });
    const call = listCall(resource, options);
    const text = newText(call);
    let ahead: Ahead | undefined;
    const prepare = (token: string) => {
      ahead = { token, exchange: this.#caller.open(callFor(token)) };
      ahead.exchange.catch(() => undefined);
    };
    try {
      const { items, metadata, ...list } = await this.#read<T>(await this.#caller.open(call), call, text, prepare);
      const { continue: first, remainingItemCount: ___, ...rest } = metadata;
      let token = first ?? '';
      for (let pages = 1; token !== ''; pages += 1) {
        if (pages === maxPages) throw invalidAnswer(requestName('GET', call.path), `has more than ${maxPages} pages`);
        const [requested, prepared] = [token, ahead];
        ahead = undefined;
        const exchange = await (prepared?.token === requested
          ? prepared.exchange
          : this.#caller.open(callFor(requested)));
        const page = await this.#read<T>(exchange, callFor(requested), text, prepare);
        for (const item of page.items) items.push(item);
        token = page.metadata.continue ?? '';
      }
      return { ...list, metadata: rest, items };
    } finally {
      discard(ahead);
    }
  }

  async #read<T extends KubeResource>(
    exchange: Exchange,
    call: Call,
    text: ListText,
    onToken: (token: string) => void,
  ): Promise<KubeList<T>> {
    let isFirst = true;
    await this.#caller.read(exchange, call, chunk => {
      text.push(chunk);
      const token = isFirst ? earlyToken.exec(chunk.toString('latin1', 0, earlyBytes))?.[1] : undefined;
      isFirst = false;
      if (token !== undefined) onToken(token);
    });
    return listOf(parseAnswer(text.take(), requestName('GET', call.path)), call);
  }
}

function newText(call: Call): ListText {
  return new ListText(requestName('GET', call.path));
}

function listCall(resource: Resource, options: ListOptions): Call {
  return { ...options, method: 'GET', path: `${resourcePath(resource, options)}${queryText(listQuery(options))}` };
}

function listQuery(options: ListOptions) {
  const { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch, limit } = options;
  return { labelSelector, fieldSelector, resourceVersion, resourceVersionMatch, limit, continue: options.continue };
}

/** Some servers send null for an empty list. */
function listOf<T extends KubeResource>(answer: unknown, call: Call): KubeList<T> {
  const list = answer as Partial<KubeList<T>> | null;
  if (typeof list !== 'object' || list === null || !Array.isArray(list.items ?? []))
    throw invalidAnswer(requestName('GET', call.path), 'the response is not a list');
  return { ...list, metadata: list.metadata ?? {}, items: list.items ?? [] };
}

function discard(ahead: Ahead | undefined): void {
  ahead?.exchange.then(
    exchange => exchange.cancel(),
    () => undefined,
  );
}
