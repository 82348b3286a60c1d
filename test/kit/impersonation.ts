import { request } from 'node:https';
import type { Connection } from '../../src/kube/transport/connection.ts';

/** Whom the server takes the requester for. */
export interface Impersonated {
  user: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** Posts an object as another user; needs the rights of an administrator. The headers are those of Kubernetes. */
export async function postAs<T>(
  connection: Connection,
  { user, groups, extra = {} }: Impersonated,
  path: string,
  object: unknown,
): Promise<T> {
  const { clientCertificate } = await connection.identity.current(new AbortController().signal);
  const ca = await connection.trusted();
  const extraHeaders = Object.entries(extra).map(([key, values]) => [
    `Impersonate-Extra-${encodeURIComponent(key)}`,
    [...values],
  ]);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request(`${connection.server}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Impersonate-User': user,
      'Impersonate-Group': [...groups],
      ...Object.fromEntries(extraHeaders),
    },
    ...(ca !== undefined && { ca }),
    ...(clientCertificate && { cert: clientCertificate.certificate, key: clientCertificate.key.reveal() }),
    agent: false,
  });
  call.on('error', reject);
  call.on('response', answer => {
    let text = '';
    answer.setEncoding('utf8').on('data', (part: string) => (text += part));
    answer.on('error', reject).on('end', () => {
      if (answer.statusCode === 201) resolve(text);
      else reject(new Error(`POST ${path} as ${user}: ${answer.statusCode} ${text}`));
    });
  });
  call.end(JSON.stringify(object));
  return JSON.parse(await promise) as T;
}
