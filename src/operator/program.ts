import { readFile } from 'node:fs/promises';
import { systemClock as clock } from '#base/clock.ts';
import { commandHelp } from '#base/command-line.ts';
import { AppError, errorLabel, isAppError } from '#base/errors.ts';
import { createLog, type Log } from '#base/log.ts';
import { operatorName } from '#contract/names.ts';
import { dialTcp } from '#host/dial-tcp.ts';
import { createResolver } from '#host/resolver.ts';
import { connect } from '#host/ssh/connect.ts';
import type { Client } from '#kube/client.ts';
import { loadInCluster } from '#kube/config/in-cluster.ts';
import { type KubeconfigFile, parseKubeconfigFiles } from '#kube/config/kubeconfig-files.ts';
import { connectionOf } from '#kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '#kube/controller/metrics.ts';
import { createClient } from '#kube/http-client.ts';
import { openPayload, type TrustedKey } from '#node/payload-source.ts';
import { releaseKey } from '#payload/release-key.ts';
import { operatorLine } from './flags.ts';
import { runOperator } from './operator.ts';
import { readOptions, type StartOptions } from './settings.ts';

export interface ProgramDeps {
  environment: Readonly<Record<string, string | undefined>>;
  version: string;
  /** Version and platform of Node.js. */
  runtime: string;
  out: (text: string) => void;
  err: (text: string) => void;
  /** Aborted by SIGTERM or SIGINT. */
  signal: AbortSignal;
}

/** Runs the operator and returns the exit code: 0 after a signal, 1 after a failure, 2 for an invalid command line. */
export async function operatorProgram(words: readonly string[], deps: ProgramDeps): Promise<0 | 1 | 2> {
  const log = createLog(deps.err, clock);
  try {
    const options = readOptions(words, deps.environment, deps.version);
    if (options === undefined) deps.out(commandHelp(operatorLine));
    else await run(options, deps, options.settings.debug ? createLog(deps.err, clock, 'debug') : log);
    return 0;
  } catch (error) {
    if (isAppError(error, 'USAGE')) {
      deps.err(`${errorLabel(error)}: ${error.message}\n  -> ${error.remedy}\n`);
      return 2;
    }
    log.error(
      isAppError(error, 'LOG_SETTING_INVALID') ? 'invalid log rotation configuration' : 'problem running manager',
      {
        error,
      },
    );
    return 1;
  }
}

async function run(options: StartOptions, deps: ProgramDeps, log: Log): Promise<void> {
  const { settings } = options;
  // Scripts take the first version in the log for that of the operator.
  log.info('operator', { version: settings.version });
  log.info('node', { version: deps.runtime });
  const rotation = Object.entries(settings.logRotation).filter(([, value]) => value !== '');
  if (rotation.length > 0) log.info('log rotation configured', Object.fromEntries(rotation));
  const { payloadDir: folder, payloadCacheDir: cacheFolder } = options;
  const payload = await openPayload({ folder, cacheFolder, key: await payloadKey(options), log });
  const newClient = await clientFactory(options, deps, log);
  const [client, leaseClient] = [newClient(), newClient()];
  const metrics = new MemoryMetrics();
  const resolver = createResolver({ clock });
  try {
    await runOperator(
      { client, leaseClient, settings, connect, dialTcp, resolver, payload, clock, log, metrics, random: Math.random },
      deps.signal,
    );
  } finally {
    await Promise.all([client.close(), leaseClient.close()]);
  }
}

async function payloadKey({ payloadKey: path }: StartOptions): Promise<TrustedKey> {
  if (path === undefined) return { publicPem: releaseKey, keyName: 'the key of the release' };
  try {
    return { publicPem: await readFile(path, 'utf8'), keyName: path };
  } catch (cause) {
    throw new AppError('PAYLOAD_KEY_INVALID', `the public key ${path} cannot be read`, {
      remedy: 'Set --payload-key to the public key of your payload, or omit it for the key of the release.',
      cause,
    });
  }
}

async function clientFactory(
  { kubeconfig, settings }: StartOptions,
  deps: ProgramDeps,
  log: Log,
): Promise<() => Client> {
  const connection =
    kubeconfig === undefined
      ? loadInCluster(deps.environment)
      : connectionOf(parseKubeconfigFiles([await readKubeconfig(kubeconfig)]), { environment: deps.environment });
  const userAgent = `${operatorName}/${settings.version}`;
  return () => createClient(connection, { clock, log, userAgent, fieldManager: operatorName, maxRetries });
}

/** For a server that is too busy for a minute and asks to retry after a second. */
const maxRetries = 90;

async function readKubeconfig(path: string): Promise<KubeconfigFile> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    throw new AppError('INPUT_UNREADABLE', `kubeconfig ${path} cannot be read`, {
      remedy: 'Set --kubeconfig to a readable file, or omit it inside a pod.',
      cause,
    });
  }
}
