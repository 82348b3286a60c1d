import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { type Clock, systemClock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { isRecord, jsonIn } from '#base/fields.ts';
import { Secret } from '#base/secret.ts';
import type { ExecPlugin, KubeconfigCluster } from './kubeconfig.ts';
import type { Credential, Identity } from '../transport/connection.ts';
import { orAborted } from '#base/waiting/abort.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { bearer, isSame, pairProblem } from './identity.ts';

export interface PluginContext {
  /** Folder of the kubeconfig; commands with a path are relative to it. */
  folder?: string;
  /** Environment the plugin inherits. */
  environment?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  timeoutMs?: number;
  cluster?: KubeconfigCluster;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const maxOutputBytes = 1_048_576;
const isWindows = process.platform === 'win32';

interface Issued {
  credential: Credential;
  expiresAt: number;
}

/**
 * Runs a program for the credential, and again when it has expired or was rejected. Concurrent callers share one run.
 */
export function pluginIdentity(plugin: ExecPlugin, context: PluginContext = {}): Identity {
  const { clock = systemClock } = context;
  let issued: Issued | undefined;
  let running: Promise<Issued> | undefined;

  const run = async (signal: AbortSignal): Promise<Credential> => {
    running ??= runPlugin(plugin, context).finally(() => {
      running = undefined;
    });
    issued = await orAborted(running, signal);
    return issued.credential;
  };
  return {
    current: async signal => (issued !== undefined && clock.now() < issued.expiresAt ? issued.credential : run(signal)),
    renew: async (refused, signal) => {
      // Another call may have renewed it since the rejected request was sent.
      if (issued !== undefined && !isSame(issued.credential, refused)) return true;
      return !isSame(await run(signal), refused);
    },
  };
}

async function runPlugin(plugin: ExecPlugin, context: PluginContext): Promise<Issued> {
  if (!versions.includes(plugin.apiVersion))
    throw failed(
      plugin,
      `apiVersion ${shown(plugin.apiVersion)} is not supported`,
      `Use one of ${versions.join(', ')}.`,
    );
  if (plugin.interactiveMode === 'Always')
    throw failed(
      plugin,
      'needs a terminal (interactiveMode: Always)',
      'Use a kubeconfig user without interactiveMode: Always.',
    );
  return readCredential(plugin, await outputOf(plugin, context));
}

async function outputOf(plugin: ExecPlugin, context: PluginContext): Promise<string> {
  const { folder = '.', environment = {}, timeoutMs = 60_000, clock = systemClock } = context;
  const command = /[/\\]/.test(plugin.command) ? resolve(folder, plugin.command) : plugin.command;
  const env = {
    ...environment,
    ...Object.fromEntries(plugin.env.map(({ name, value }) => [name, value.reveal()])),
    KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(plugin, context)),
  };
  // In its own process group, so that its child processes end with it.
  const child = spawn(command, plugin.args, { env, stdio: ['ignore', 'pipe', 'ignore'], detached: !isWindows });
  const error = () => failed(plugin, `did not finish within ${timeoutMs / 1000} s`);
  try {
    return await withDeadline({ clock, ms: timeoutMs, error }, () => textOf(child, plugin));
  } catch (failure) {
    kill(child);
    throw failure;
  }
}

/** The output of a successful run. Messages quote neither output nor arguments: both may contain secrets. */
function textOf(child: ChildProcess, plugin: ExecPlugin): Promise<string> {
  const hint = plugin.installHint ?? 'Run the command by hand and check its output.';
  return new Promise((settle, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxOutputBytes) chunks.push(chunk);
      else reject(failed(plugin, `printed more than ${maxOutputBytes} bytes`));
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(failed(plugin, error.code === 'ENOENT' ? 'was not found' : `cannot be started (${error.code})`, hint));
    });
    child.once('close', (code, signal) => {
      if (code === 0) settle(Buffer.concat(chunks).toString());
      else reject(failed(plugin, `ended with ${signal ?? `code ${code}`}`, hint));
    });
  });
}

function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    if (isWindows) child.kill();
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

function execInfo({ apiVersion, provideClusterInfo }: ExecPlugin, { cluster }: PluginContext): object {
  const spec = {
    interactive: false,
    ...(provideClusterInfo &&
      cluster && {
        cluster: {
          server: cluster.server,
          'tls-server-name': cluster.tlsServerName,
          'insecure-skip-tls-verify': cluster.skipTlsVerify,
          'certificate-authority-data':
            cluster.caData === undefined ? undefined : Buffer.from(cluster.caData).toString('base64'),
          'proxy-url': cluster.proxyUrl?.reveal(),
        },
      }),
  };
  return { apiVersion, kind: 'ExecCredential', spec };
}

function readCredential(plugin: ExecPlugin, output: string): Issued {
  const answer = parseAnswer(plugin, output);
  const status = isRecord(answer.status) ? answer.status : {};
  const text = (name: string): string | undefined => {
    const value = status[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, certificate, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if (token === undefined && (certificate === undefined || key === undefined))
    throw failed(plugin, 'returned neither a token nor a certificate with its key');
  const problem = certificate === undefined || key === undefined ? undefined : pairProblem(certificate, key);
  if (problem !== undefined) throw failed(plugin, `returned an unusable client certificate: ${problem}`);
  return {
    credential: {
      ...(token === undefined ? {} : { authorization: bearer(token) }),
      ...(certificate === undefined || key === undefined
        ? {}
        : { clientCertificate: { certificate, key: new Secret(key) } }),
    },
    expiresAt: expiryOf(plugin, text('expirationTimestamp')),
  };
}

function parseAnswer(plugin: ExecPlugin, output: string): Record<string, unknown> {
  const answer = jsonIn(output);
  if (answer === undefined) throw failed(plugin, 'did not print JSON');
  if (!isRecord(answer) || answer.kind !== 'ExecCredential' || answer.apiVersion !== plugin.apiVersion)
    throw failed(plugin, `did not print an ExecCredential of ${plugin.apiVersion}`);
  return answer;
}

function expiryOf(plugin: ExecPlugin, timestamp: string | undefined): number {
  if (timestamp === undefined) return Number.POSITIVE_INFINITY;
  const time = Date.parse(timestamp);
  if (Number.isNaN(time))
    throw failed(plugin, `returned the expirationTimestamp ${shown(timestamp)}, which is not a time`);
  return time;
}

function failed(plugin: ExecPlugin, why: string, remedy = 'Run the command by hand and check its output.'): AppError {
  return new AppError('CREDENTIAL_PLUGIN_FAILED', `credential plugin ${shown(plugin.command)} ${why}`, { remedy });
}
