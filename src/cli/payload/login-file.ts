import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import { readCredentials } from '#node/desired/registries/credentials.ts';
import { readText } from './lock-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Logins {
  /** Base64 of `user:password` for `host[:port]`. */
  loginOf: (host: string) => Secret | undefined;
  /** The file that was read, and how many of its logins are of no use. */
  unreadable: { path: string; count: number } | undefined;
}

/** Logins for registries: from the given file, or from that of podman, skopeo or docker, whichever is first. */
export async function readLogins(given: string, environment: Environment): Promise<Logins> {
  const path = given === '' ? usualPlaces(environment).find(each => existsSync(each)) : given;
  if (path === undefined) return { loginOf: () => undefined, unreadable: undefined };
  const text = await readText(
    path,
    'the file with logins',
    'Pass a file that `podman login` or `docker login` has written.',
  );
  const { byHost, warnings } = credentialsIn(text, path);
  return {
    loginOf: host => {
      const login = byHost.get(host === 'registry-1.docker.io' ? 'docker.io' : host);
      return login === undefined ? undefined : new Secret(login);
    },
    unreadable: warnings.length === 0 ? undefined : { path, count: warnings.length },
  };
}

function credentialsIn(text: string, path: string) {
  try {
    return readCredentials(new Secret(text));
  } catch {
    // No cause, which would be about the pull secret of a cluster.
    throw new AppError('INPUT_MALFORMED', `${path} is not a JSON object with an object "auths"`, {
      remedy: 'Pass a file that `podman login` or `docker login` has written.',
    });
  }
}

function usualPlaces(environment: Environment): string[] {
  const place = (variable: string, ...rest: string[]) => {
    const value = environment[variable] ?? '';
    return value === '' ? [] : [join(value, ...rest)];
  };
  return [
    ...place('REGISTRY_AUTH_FILE'),
    ...place('XDG_RUNTIME_DIR', 'containers', 'auth.json'),
    ...place('HOME', '.config', 'containers', 'auth.json'),
    ...place('DOCKER_CONFIG', 'config.json'),
    ...place('HOME', '.docker', 'config.json'),
  ];
}
