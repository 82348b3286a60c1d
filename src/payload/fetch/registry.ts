import { jsonIn, ownMember } from '#base/fields.ts';
import { shown } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { refusal } from './answer.ts';
import { parseChallenge } from './challenge.ts';
import { downloadFailed } from './failures.ts';
import type { Answer, Get } from './http.ts';

export interface RegistryOptions {
  get: Get;
  /** Base64 of `user:password` for a registry `host[:port]`. */
  loginOf: (host: string) => Secret | undefined;
  /** Used in place of all registries: its origin, and a path in front of repositories. */
  registryMirror: URL | undefined;
}

export interface Repository {
  /** Such as https://quay.io/v2/openshift/origin-ovn-kubernetes. */
  url: string;
  /** Below its URL, such as `manifests/latest`; with a login if the registry wants one. */
  get: (path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Answer>;
}

const maxTokenBytes = 1024 * 1024;

/** The repository of a reference without its tag, in its registry or in the mirror. */
export function openRepository(name: string, { get, loginOf, registryMirror }: RegistryOptions): Repository {
  const base = registryMirror === undefined ? ownBase(name) : mirrorBase(name, registryMirror);
  const login = loginOf(base.registry.host);
  let authorization: Secret | undefined;
  return {
    url: base.url,
    get: async (path, headers, signal) => {
      const url = new URL(`${base.url}/${path}`);
      const first = await get(url, { headers, authorization, signal });
      if (first.status !== 401) return first;
      first.cancel();
      authorization = await authorize(first.headers['www-authenticate'], signal);
      const second = await get(url, { headers, authorization, signal });
      if (second.status !== 401) return second;
      second.cancel();
      throw loginRefused(base.registry, login);
    },
  };

  async function authorize(header: string | undefined, signal: AbortSignal): Promise<Secret> {
    const { registry, repository } = base;
    const challenge = parseChallenge(header);
    if (challenge === undefined)
      throw downloadFailed(base.url, `the registry wants a login of an unknown kind: ${shown(header)}`);
    const basic = login && new Secret(`Basic ${login.reveal()}`);
    if (challenge.scheme === 'basic') {
      if (basic === undefined) throw loginRefused(registry, login);
      return basic;
    }
    const realm = tokenUrl(challenge.realm, registry);
    if (challenge.service !== undefined) realm.searchParams.set('service', challenge.service);
    realm.searchParams.set('scope', `repository:${repository}:pull`);
    const answer = await get(realm, { authorization: basic, signal });
    if ([401, 403].includes(answer.status)) {
      answer.cancel();
      throw loginRefused(registry, login);
    }
    return new Secret(`Bearer ${await tokenIn(answer, realm)}`);
  }
}

interface Base {
  registry: URL;
  repository: string;
  url: string;
}

function ownBase(name: string): Base {
  const [host = '', ...path] = name.split('/');
  // Docker Hub is served by another host, with a folder for what has none.
  const isHub = host === 'docker.io';
  const registry = new URL(`https://${isHub ? 'registry-1.docker.io' : host}`);
  return baseOf(registry, isHub && path.length === 1 ? ['library', ...path] : path);
}

/** Paths in a mirror are those of the registries, as `oc mirror` and `skopeo sync` copy them. */
function mirrorBase(name: string, mirror: URL): Base {
  return baseOf(new URL(mirror.origin), [...mirror.pathname.split('/'), ...name.split('/').slice(1)]);
}

function baseOf(registry: URL, path: readonly string[]): Base {
  const repository = path.filter(part => part !== '').join('/');
  return { registry, repository, url: `${registry.origin}/v2/${repository}` };
}

/** A login leaves in plain text only for a registry that the user wants without TLS, on the same host. */
function tokenUrl(realm: string, registry: URL): URL {
  const url = URL.parse(realm);
  const isPlain = url?.protocol === 'http:' && registry.protocol === 'http:' && url.hostname === registry.hostname;
  if (url !== null && url.username === '' && (url.protocol === 'https:' || isPlain)) return url;
  throw downloadFailed(registry.origin, `the registry names ${shown(realm)} for logins, which is not an https URL`);
}

async function tokenIn(answer: Answer, realm: URL): Promise<string> {
  const where = `${realm.origin}${realm.pathname}`;
  if (answer.status !== 200) {
    answer.cancel();
    throw refusal(where, answer, 0);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > maxTokenBytes) {
      answer.cancel();
      throw downloadFailed(where, 'the answer to the login is too long');
    }
    chunks.push(chunk);
  }
  const value = jsonIn(Buffer.concat(chunks).toString()) as Readonly<Record<string, unknown>> | undefined;
  const found = ['token', 'access_token'].map(name => (value instanceof Object ? ownMember(value, name) : undefined));
  const token = found.find(each => typeof each === 'string' && /^[\w\-.~+/=]{1,100000}$/.test(each));
  if (typeof token !== 'string') throw downloadFailed(where, 'the answer to the login has no token');
  return token;
}

function loginRefused({ host }: URL, login: Secret | undefined): Error {
  return downloadFailed(
    `registry ${host}`,
    login === undefined ? 'it wants a login, and there is none' : 'it refuses the login',
    `Log in with \`podman login ${host}\` or \`docker login ${host}\`, or name the file with the login with --authfile; helper programs for logins are not used.`,
  );
}
