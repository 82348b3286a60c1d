import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { AppError } from '#base/errors.ts';
import type { Secret } from '#base/secret.ts';

export interface Address {
  host: string;
  port: number;
}

/** Opens a tunnel through an HTTP or HTTPS proxy. Messages do not quote the proxy URL, which may contain a password. */
export function connectThroughProxy(proxyUrl: Secret, { host, port }: Address, signal: AbortSignal): Promise<Socket> {
  const proxy = parseProxy(proxyUrl);
  const path = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const send = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
  return new Promise((resolve, reject) => {
    const tunnel = send({
      method: 'CONNECT',
      host: proxy.hostname.replaceAll(/[[\]]/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path,
      agent: false,
      headers: { host: path, ...authorization(proxy) },
    });
    const abort = () => tunnel.destroy(signal.reason as Error);
    const end = () => signal.removeEventListener('abort', abort);
    signal.addEventListener('abort', abort, { once: true });
    tunnel.once('connect', (response, socket) => {
      end();
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(proxyError(`the proxy answered ${response.statusCode} to CONNECT ${path}`));
    });
    // A proxy that refuses the tunnel sends an ordinary response.
    tunnel.once('response', response => {
      end();
      response.destroy();
      reject(proxyError(`the proxy answered ${response.statusCode} to CONNECT ${path}`));
    });
    tunnel.once('error', error => {
      end();
      reject(signal.aborted ? signal.reason : proxyError(`the proxy cannot be used: ${codeOf(error)}`));
    });
    tunnel.end();
  });
}

function parseProxy(proxyUrl: Secret): URL {
  const url = URL.parse(proxyUrl.reveal());
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw proxyError('proxy-url is not an http or https URL');
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function proxyError(message: string): AppError {
  return new AppError('API_UNREACHABLE', message, {
    remedy: 'Check proxy-url and that the proxy allows the connection.',
  });
}

/** Only the code: the message may quote the address. */
function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'the connection failed';
}
