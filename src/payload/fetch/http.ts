import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { getCACertificates } from 'node:tls';
import { shown } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';
import { dial, hostOf } from '#kube/transport/dial.ts';
import { connectionFailure, downloadFailed } from './failures.ts';

const maxRedirects = 10;

export interface NetworkOptions {
  /** CA certificates in PEM form, trusted like those of Node.js. */
  extraCa?: string;
  proxyOf: (url: URL) => Secret | undefined;
  /** What the user has named with http: only these and loopback are used without TLS. */
  plainOrigins: readonly string[];
  userAgent: string;
}

export interface GetRequest {
  headers?: Readonly<Record<string, string>>;
  /** Value of the Authorization header; only for the origin of the first URL. */
  authorization?: Secret | undefined;
  signal: AbortSignal;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: AsyncIterable<Buffer>;
  cancel: () => void;
}

export type Get = (url: URL, request: GetRequest) => Promise<Answer>;

/** GET requests that follow redirects, each over a connection of its own. */
export function httpGet(options: NetworkOptions): Get {
  const { extraCa } = options;
  const trusted = extraCa === undefined ? undefined : [...getCACertificates('default'), extraCa].join('\n');
  return async (first, { headers = {}, authorization, signal }) => {
    let url = first;
    let login = authorization;
    for (let hops = 0; ; hops += 1) {
      checkPlain(url, first, options);
      const own = { 'user-agent': options.userAgent, 'accept-encoding': 'identity', ...headers };
      const answer = await exchange(url, { ...own, ...(login && { authorization: login.reveal() }) }, signal);
      const { location } = answer.headers;
      if (![301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) || location === undefined)
        return answerOf(answer);
      answer.destroy();
      if (hops >= maxRedirects) throw downloadFailed(first.href, `more than ${maxRedirects} redirects`);
      const next = URL.parse(location, url.href);
      if (next === null || !['http:', 'https:'].includes(next.protocol))
        throw downloadFailed(first.href, `it redirects to ${shown(location.slice(0, 100))}, which is not an https URL`);
      if (next.protocol === 'http:' && url.protocol === 'https:')
        throw downloadFailed(first.href, `it redirects from https to http, to host ${shown(next.host)}`);
      // Not given back either when a later redirect returns to the first server.
      if (next.origin !== url.origin) login = undefined;
      url = next;
    }
  };

  async function exchange(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<IncomingMessage> {
    try {
      const target = { server: url, skipTlsVerify: false, trusted, clientCertificate: undefined };
      const { socket } = await dial({ ...target, proxyUrl: options.proxyOf(url), protocols: ['http/1.1'] }, signal);
      return await new Promise((resolve, reject) => {
        const call = send({
          // Not kept: each download has a connection of its own.
          createConnection: () => socket,
          path: `${url.pathname}${url.search}`,
          headers: { ...headers, host: url.host, connection: 'close' },
          signal,
        });
        call.once('response', resolve).once('error', reject).end();
      });
    } catch (error) {
      signal.throwIfAborted();
      throw connectionFailure(originName(url), error);
    }
  }
}

/** Without path and query: those of a redirect may be secret. */
function originName({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}

function answerOf(response: IncomingMessage): Answer {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: response,
    cancel: () => response.destroy(),
  };
}

function checkPlain(url: URL, first: URL, { plainOrigins }: NetworkOptions): void {
  if (url.protocol === 'https:' || isLoopback(hostOf(url)) || plainOrigins.includes(url.origin)) return;
  throw downloadFailed(
    first.href,
    `${originName(url)} is not used without TLS`,
    'Use https; http is only for loopback and for a mirror that you name with --mirror or --registry-mirror.',
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}
