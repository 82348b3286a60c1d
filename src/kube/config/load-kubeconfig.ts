import { resolve } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { trimEndOf } from '#base/trim-end.ts';
import {
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
  parseKubeconfig,
  resolveContext,
} from './kubeconfig.ts';
import type { Connection, Identity } from '../transport/connection.ts';
import { pluginIdentity } from './exec-plugin.ts';
import { certificateIdentity, combinedIdentity, passwordIdentity, tokenIdentity } from './identity.ts';
import { changingText, fileText, fixedText, type TextSource, unreadable, usableText } from './text-source.ts';

export interface LoadOptions {
  /** Default: the current context. */
  context?: string;
  /** Folder of the kubeconfig; its paths are relative to it. */
  folder?: string;
  /** Reads a file by its path in the kubeconfig; undefined when it does not exist. */
  readFile?: (path: string) => Promise<string | undefined>;
  /** Environment that credential plugins inherit. */
  environment?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
}

/** How long a token from a file is used before the file is read again. */
export const tokenMaxAgeMs = 60_000;
export const certificateMaxAgeMs = 10_000;

export function loadKubeconfig(text: string, options: LoadOptions = {}): Connection {
  return connectionOf(parseKubeconfig(text), options);
}

/** The connection of a kubeconfig context. Files are read when they are needed. */
export function connectionOf(config: Kubeconfig, options: LoadOptions = {}): Connection {
  const { cluster, user, userName, namespace } = resolveContext(config, options.context);
  const files = new Files(options);
  const trusted = files.source('CA certificates', certificateMaxAgeMs, cluster.caData, cluster.caFile);
  return {
    server: trimEndOf(cluster.server, '/'),
    skipTlsVerify: cluster.skipTlsVerify,
    trusted: () => trusted?.read() ?? Promise.resolve(undefined),
    identity: identityOf(user, `user ${userName}`, files, { ...options, cluster }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    ...(cluster.proxyUrl === undefined ? {} : { proxyUrl: cluster.proxyUrl }),
  };
}

function identityOf(
  user: KubeconfigUser,
  name: string,
  files: Files,
  context: LoadOptions & { cluster: KubeconfigCluster },
): Identity {
  const { clientCertificateData, clientCertificateFile, clientKeyData, clientKeyFile } = user;
  const certificate = files.source('certificate', certificateMaxAgeMs, clientCertificateData, clientCertificateFile);
  const key = files.source('key', certificateMaxAgeMs, clientKeyData?.reveal(), clientKeyFile);
  if ((certificate === undefined) !== (key === undefined))
    throw unreadable(`${name}: has a client certificate without a key, or a key without a certificate`);
  // tokenFile takes precedence: the token may have expired since the kubeconfig was written.
  const token = files.source('token', tokenMaxAgeMs, user.tokenFile ? undefined : user.token?.reveal(), user.tokenFile);
  const parts: Identity[] = [];
  if (certificate !== undefined && key !== undefined) parts.push(certificateIdentity(certificate, key));
  if (token !== undefined) parts.push(tokenIdentity(token));
  else if (user.username !== undefined && user.password !== undefined)
    parts.push(passwordIdentity(user.username, user.password));
  else if (user.exec !== undefined) parts.push(pluginIdentity(user.exec, context));
  return combinedIdentity(parts);
}

class Files {
  readonly #options: LoadOptions;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  source(what: string, maxAgeMs: number, text: string | undefined, path: string | undefined): TextSource | undefined {
    if (text !== undefined) return fixedText(text);
    if (path === undefined) return undefined;
    const { folder = '.', readFile, clock = systemClock } = this.#options;
    if (readFile === undefined) return fileText(resolve(folder, path), what, maxAgeMs, clock);
    return changingText(async () => usableText((await readFile(path)) ?? '', path, what), maxAgeMs, clock);
  }
}
