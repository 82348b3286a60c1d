import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type HostKey, parseHostKey } from '../../src/host/host-key.ts';
import { authorizedKey, type PublicKey } from '../../src/host/keys/public-key.ts';
import { Guard } from './cluster/component.ts';
import { ensurePrograms } from './debian-package.ts';

export type HostKeyType = 'ed25519' | 'ecdsa' | 'rsa';

export interface OpenSshSettings {
  hostKeys?: readonly HostKeyType[];
  authorized: readonly PublicKey[];
  /** Further lines of sshd_config. */
  config?: readonly string[];
  /** Without the default line for SFTP. */
  withoutSftp?: boolean;
}

export interface OpenSsh extends AsyncDisposable {
  readonly port: number;
  /** A folder that belongs to the user who logs in. */
  readonly home: string;
  /** A folder of the user with room for two megabytes. */
  readonly small: string;
  /** What this server sees as /mnt, which is fit for ChrootDirectory; it has a folder C: of the user. */
  readonly chroot: string;
  readonly hostKeys: ReadonlyMap<HostKeyType, HostKey>;
  authorize(key: PublicKey): void;
  /** Process ids of the servers of all connections that stand. */
  sessions(): number[];
  log(): string;
}

/** The one user there is. Not root, as for root OpenSSH ends no commands. */
export const sshUser = 'Administrator';
const uid = 61_001;

/** Debian's OpenSSH on a loopback port, with its own user, configuration and keys. Needs root. */
export async function startOpenSsh(settings: OpenSshSettings): Promise<OpenSsh> {
  const sshd = '/usr/sbin/sshd';
  ensurePrograms(sshd);
  const folder = mkdtempSync(join(tmpdir(), 'wmco-openssh-'));
  const guard = new Guard(folder);
  const [home, small, chroot] = ['home', 'small', 'chroot'].map(name => join(folder, name)) as [string, string, string];
  prepareFolders(folder, { home, small, chroot });
  const hostKeys = makeHostKeys(folder, settings.hostKeys ?? ['ed25519']);
  const authorized = join(folder, 'authorized_keys');
  writeFileSync(authorized, settings.authorized.map(authorizedKey).join(''));
  const port = await freePort();
  writeFileSync(join(folder, 'config'), configText(folder, port, settings));
  // What only this server sees: its user, a small disk, and a root for SFTP.
  const script = [
    `mount --bind ${folder}/passwd /etc/passwd`,
    `mount -t tmpfs -o size=2m,uid=${uid} none ${small}`,
    `mount --bind ${chroot} /mnt`,
    `exec ${sshd} -D -f ${folder}/config -E ${folder}/log`,
  ].join(' && ');
  const child = spawn('unshare', ['--mount', '/bin/sh', '-c', script], { stdio: ['ignore', 'ignore', 'inherit'] });
  const { pid = 0 } = child;
  guard.watch(pid);
  const log = () => (existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '');
  await listening(port, log);
  return {
    port,
    home,
    small,
    chroot,
    hostKeys,
    authorize: key => appendFileSync(authorized, authorizedKey(key)),
    sessions: () => descendants(pid),
    log,
    async [Symbol.asyncDispose]() {
      for (const process of [pid, ...descendants(pid)]) kill(process);
      await guard.release();
    },
  };
}

function prepareFolders(folder: string, { home, small, chroot }: Record<'home' | 'small' | 'chroot', string>): void {
  mkdirSync('/run/sshd', { recursive: true });
  chmodSync(folder, 0o755);
  for (const path of [home, small, chroot, join(chroot, 'C:')]) mkdirSync(path);
  for (const path of [home, small, join(chroot, 'C:')]) chownSync(path, uid, uid);
  const users = readFileSync('/etc/passwd', 'utf8');
  writeFileSync(join(folder, 'passwd'), `${users.trimEnd()}\n${sshUser}:*:${uid}:${uid}::${home}:/bin/sh\n`);
}

function makeHostKeys(folder: string, types: readonly HostKeyType[]): Map<HostKeyType, HostKey> {
  return new Map(
    types.map(type => {
      const path = join(folder, `host_${type}`);
      execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', path]);
      const [, base64 = ''] = readFileSync(`${path}.pub`, 'utf8').split(' ');
      return [type, parseHostKey(base64)];
    }),
  );
}

function configText(folder: string, port: number, { config = [], hostKeys, withoutSftp }: OpenSshSettings): string {
  const lines = [
    // The first line about something counts.
    ...config,
    `ListenAddress 127.0.0.1:${port}`,
    ...(hostKeys ?? ['ed25519']).map(type => `HostKey ${folder}/host_${type}`),
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PasswordAuthentication no',
    'MaxStartups 500:30:1000',
    'LogLevel VERBOSE',
    ...(withoutSftp ? [] : ['Subsystem sftp /usr/lib/openssh/sftp-server']),
  ];
  return `${lines.join('\n')}\n`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

async function listening(port: number, log: () => string): Promise<void> {
  for (let round = 0; round < 100; round += 1) {
    const isOpen = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await delay(50);
  }
  throw new Error(`sshd does not listen: ${log()}`);
}

function descendants(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-e', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = stdout.split('\n').map(line => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parent: number): number[] =>
    pairs.filter(([, above]) => above === parent).flatMap(([child = 0]) => [child, ...childrenOf(child)]);
  return childrenOf(pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
