import { AppError, shown } from '#base/errors.ts';
import { dir, file } from './paths.ts';
import type { HostVariableSource } from './services/manifest.ts';

/** How long a client certificate of the agent lives, unless a setting says otherwise. */
export const defaultCertificateLifetime = '24h';

/** What the agent's service is told. */
export interface AgentServiceOptions {
  namespace: string;
  /** Name of the Node of this host: the agent does not search for it. */
  node: string;
  /** Go duration. */
  certificateLifetime?: string;
  /** Size of one log file. */
  logMegabytes?: number;
  /** Whether the agent keeps a certificate for cloud-node-manager, too. */
  cloudNode?: boolean;
}

export interface InstallOptions extends AgentServiceOptions {
  /** Make a new key instead of keeping the one that is there. */
  newKey: boolean;
  /** Leave the command line of a service that is there: it fits the program of the version that has made it. */
  keepCommand?: boolean;
}

export interface InventoryOptions {
  /** API server that the host should reach. */
  apiServerUrl?: string;
  /** Where the kubelet's `--hostname-override` comes from; the computer name when missing. */
  nameSource?: HostVariableSource;
}

/**
 * Command lines the operator runs on a host, with the agent program at the path given. Every word is checked, so that they mean
 * the same in cmd.exe and in PowerShell and no value can become a command of its own.
 */
export function agentCommands(program: string) {
  const run = (...words: (string | false)[]) =>
    commandLine(
      program,
      words.filter(word => word !== false),
    );
  const json = ['-o', 'json'];
  return {
    version: run('version', ...json),
    enableContainers: run('enable-containers', ...json),
    inventory: (options: InventoryOptions = {}) => run('inventory', ...inventoryFlags(options), ...json),
    /** Secures our folders, copies the program to where services run it, and answers with an inventory, too. */
    secure: (options: InventoryOptions = {}) => run('secure', ...inventoryFlags(options), ...json),
    /** Settings are kept where the host is configured again at once: their removal and return would take two reboots. */
    cleanup: (namespace: string, settings: 'remove settings' | 'keep settings' = 'remove settings') =>
      run('cleanup', ...credentials(namespace), settings === 'keep settings' && '--keep-settings'),
    /** Fails when the kubelet would register under another name than the one given. */
    bootstrap: ({ version, namespace, node }: { version: string; namespace: string; node: string }) =>
      run('bootstrap', '--desired-version', version, ...credentials(namespace), '--node', node),
    /** Makes the keys, makes or corrects the agent's Windows service, starts it, and prints the hashes of the public keys. */
    install: ({ newKey, keepCommand, ...options }: InstallOptions) =>
      run(
        'install',
        '--namespace',
        options.namespace,
        '--node',
        options.node,
        ...flag('cert-duration', options.certificateLifetime),
        ...flag('service-log-size', options.logMegabytes),
        options.cloudNode === true && '--cloud-node',
        newKey && '--new-key',
        keepCommand === true && '--keep-command',
        ...json,
      ),
    /** Takes an uploaded bundle, of which the whole must have the hash given. */
    stage: (bundle: string, sha256: string) => run('stage', '--bundle', bundle, '--sha256', sha256, ...json),
    /** Does nothing in any other boot than the one given, so that a command sent twice reboots once. */
    reboot: (bootId: string, delaySeconds = 3) =>
      run('reboot', '--boot-id', bootId, '--delay', `${delaySeconds}s`, ...json),
    rename: (hostName: string) => run('rename', '--name', hostName, ...json),
  };
}

export type AgentCommands = ReturnType<typeof agentCommands>;

/** The command line of the agent's Windows service. */
export function controllerCommand(options: AgentServiceOptions): string {
  return commandLine(file.agent, [
    'controller',
    '--windows-service',
    '--log-dir',
    dir.agentLog,
    '--namespace',
    options.namespace,
    '--kubeconfig',
    file.agentKubeconfig,
    '--cert-dir',
    dir.agentCerts,
    '--cert-duration',
    options.certificateLifetime ?? defaultCertificateLifetime,
    '--ca-bundle',
    file.caBundle,
    '--node',
    options.node,
    ...(options.cloudNode === true ? ['--cloud-node'] : []),
    ...flag('log-file-max-size', options.logMegabytes),
  ]);
}

/** Characters that neither cmd.exe nor PowerShell takes for anything but themselves. */
const plainWord = /^[A-Za-z0-9:\\/._[\]=-]{1,1024}$/;

/** Words joined by blanks; rejects a word that a shell could take for something else. */
function commandLine(program: string, words: readonly string[]): string {
  for (const word of [program, ...words]) checkWord(word);
  return [program, ...words].join(' ');
}

/** Checks a command as it is sent: plain words with one blank between them. */
export function checkCommand(command: string): void {
  for (const word of command.split(' ')) checkWord(word);
}

function checkWord(word: string): void {
  if (plainWord.test(word)) return;
  throw new AppError('COMMAND_WORD_INVALID', `${shown(word)} cannot be part of a command for a Windows host`, {
    remedy: 'Use letters, digits, dots and hyphens only in names that reach a host, such as spec.hostname.',
  });
}

function credentials(namespace: string): string[] {
  return ['--kubeconfig', file.agentKubeconfig, '--namespace', namespace];
}

function inventoryFlags({ apiServerUrl, nameSource }: InventoryOptions): string[] {
  return [...probe(apiServerUrl), ...flag('name-source', nameSource)];
}

/** A URL that is not plain cannot be the address of an API server, and is not asked about. */
function probe(url: string | undefined): string[] {
  return url !== undefined && /^https:\/\/[\w.:/[\]-]+$/.test(url) ? ['--probe', url] : [];
}

function flag(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`--${name}`, String(value)];
}

/** How Windows restarts the agent after a crash; Windows counts in milliseconds. */
export const agentRecovery = { resetSeconds: 300, restartDelaysMs: [10_000, 30_000, 60_000, 120_000] } as const;
