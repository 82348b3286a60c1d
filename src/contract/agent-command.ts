import { AppError, shown } from '#base/errors.ts';
import { readKeyWord } from './authorized-keys.ts';
import { dir, file } from './paths.ts';
import type { HostVariableSource } from './services/manifest.ts';

/** Default lifetime of an agent's client certificate. */
export const defaultCertificateLifetime = '24h';

export interface AgentServiceOptions {
  namespace: string;
  /** Node of this host. */
  node: string;
  /** Go duration. */
  certificateLifetime?: string;
  /** Size of one log file. */
  logMegabytes?: number;
  /** The agent also renews a certificate for cloud-node-manager. */
  cloudNode?: boolean;
}

export interface InstallOptions extends AgentServiceOptions {
  /** Create a new key even if one exists. */
  newKey: boolean;
  /** Keep the command line of an existing service: it fits the program version that created it. */
  keepCommand?: boolean;
}

export interface InventoryOptions {
  /** API server that the host must reach. */
  apiServerUrl?: string;
  /** Where the kubelet's `--hostname-override` comes from; the computer name when missing. */
  nameSource?: HostVariableSource;
}

/**
 * Command lines that the operator runs on a host with the agent program at this path. Every word is checked, so that a
 * command means the same in cmd.exe and in PowerShell and no value can inject a command.
 */
export function agentCommands(program: string, leader?: string) {
  const run = (...words: (string | false)[]) =>
    commandLine(
      program,
      words.filter(word => word !== false),
    );
  const json = ['-o', 'json'];
  /** For verbs that change the host: an operator that leads no more is refused. */
  const change = (...words: (string | false)[]) => run(...words, ...flag('leader', leader));
  return {
    version: run('version', ...json),
    enableContainers: change('enable-containers', ...json),
    inventory: (options: InventoryOptions = {}) => run('inventory', ...inventoryFlags(options), ...json),
    /** Secures the folders of the operator, copies the program to where services run it, and returns an inventory. */
    secure: (options: InventoryOptions = {}) => change('secure', ...inventoryFlags(options), ...json),
    /**
     * Settings are kept when the host is configured again at once: removing and restoring them would take two reboots.
     */
    cleanup: (namespace: string, settings: 'remove settings' | 'keep settings' = 'remove settings') =>
      change('cleanup', ...credentials(namespace), settings === 'keep settings' && '--keep-settings'),
    /** `cleanup` of services and settings, which prints whether the host has to be rebooted. */
    removeServices: (namespace: string) => change('cleanup', ...credentials(namespace), ...json),
    /** Fails when the kubelet would register under another name. */
    bootstrap: ({ version, namespace, node }: { version: string; namespace: string; node: string }) =>
      change('bootstrap', '--desired-version', version, ...credentials(namespace), '--node', node),
    /**
     * Creates the keys, creates or corrects and starts the agent's Windows service, and prints the hashes of the public
     * keys.
     */
    install: ({ newKey, keepCommand, ...options }: InstallOptions) =>
      change(
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
    /** Installs the files of an uploaded bundle with this hash. */
    stage: (bundle: string, sha256: string) => change('stage', '--bundle', bundle, '--sha256', sha256, ...json),
    /** Keeps the files of an uploaded bundle as the next set, without placing them. */
    stageNext: (bundle: string, sha256: string) =>
      change('stage', '--bundle', bundle, '--sha256', sha256, '--next', ...json),
    /**
     * Orders the swap to a set of files, which a temporary Windows service carries out. No effect when the host runs that version
     * already, or carries out that order. The program must be that of the set.
     */
    activate: (set: 'next' | 'previous', version: string) =>
      change('activate', '--set', set, '--desired-version', version, ...json),
    /** Prints how far the swap is; changes nothing. */
    activation: run('activation', ...json),
    /** No effect in another boot than this one, so that a command sent twice reboots once. */
    reboot: (bootId: string, delaySeconds = 3) =>
      change('reboot', '--boot-id', bootId, '--delay', `${delaySeconds}s`, ...json),
    /** Removes the container networks and CNI state of the operator; needs `cleanup` before. */
    removeNetworks: () => change('remove-networks', ...json),
    /** Removes the files and folders of the operator; needs `cleanup` before. */
    removeFiles: () => change('remove-files', ...json),
    rename: (hostName: string) => change('rename', '--name', hostName, ...json),
    /** Lets one SSH key of administrators in, and another no more: wire formats as base64url. */
    authorizeKey: ({ add, remove }: { add?: string; remove?: string }) =>
      change('authorize-key', ...keyFlag('add', add), ...keyFlag('remove', remove), ...json),
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

/** Characters without a special meaning in cmd.exe and PowerShell. */
const plainWord = /^[A-Za-z0-9:\\/._[\]=-]{1,1024}$/;

/** Joins words by spaces; rejects words with a special meaning in a shell. */
function commandLine(program: string, words: readonly string[]): string {
  for (const word of [program, ...words]) checkWord(word);
  return [program, ...words].join(' ');
}

/** Checks a whole command: plain words separated by one space. */
export function checkCommand(command: string): void {
  for (const word of command.split(' ')) checkWord(word);
}

function checkWord(word: string): void {
  if (plainWord.test(word)) return;
  throw new AppError('COMMAND_WORD_INVALID', `${shown(word)} is not allowed in a command for a Windows host`, {
    remedy: 'Use only letters, digits, dots and hyphens in names that are sent to a host, such as spec.hostname.',
  });
}

function credentials(namespace: string): string[] {
  return ['--kubeconfig', file.agentKubeconfig, '--namespace', namespace];
}

function inventoryFlags({ apiServerUrl, nameSource }: InventoryOptions): string[] {
  return [...probe(apiServerUrl), ...flag('name-source', nameSource)];
}

/** A URL with other characters cannot be that of an API server, and is not probed. */
function probe(url: string | undefined): string[] {
  return url !== undefined && /^https:\/\/[\w.:/[\]-]+$/.test(url) ? ['--probe', url] : [];
}

function keyFlag(name: string, word: string | undefined): string[] {
  if (word === undefined || readKeyWord(word) !== undefined) return flag(name, word);
  throw new AppError(
    'COMMAND_WORD_INVALID',
    'the public key is too long for a command on a Windows host, or of an unknown type',
    {
      remedy: 'Use an Ed25519 or ECDSA key, or an RSA key of at most 4096 bits, or add and remove its line by hand.',
    },
  );
}

function flag(name: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`--${name}`, String(value)];
}

/** How Windows restarts the agent after a crash. */
export const agentRecovery = { resetSeconds: 300, restartDelaysMs: [10_000, 30_000, 60_000, 120_000] } as const;
