import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostOptions } from './host.ts';

/** What the files of a host are made of. */
export interface HostFacts extends HostOptions {
  folder: string;
  name: string;
  address: string;
  /** This machine as the host sees it. */
  gateway: string;
  wine: string;
  publicKeyFile: string;
  /** Login shell of the administrator. */
  shell: string;
}

/** Log channels of Wine for functions it lacks, such as failure actions of services. */
const wineDebug = '-all,fixme+service,fixme+advapi';

/** Writes what supervisor.sh, shell.sh and SSH's server read. */
export async function writeHostFiles(facts: HostFacts): Promise<void> {
  const files: Record<string, string[]> = {
    settings: settingsOf(facts),
    authorized_keys: [(await readFile(facts.publicKeyFile, 'utf8')).trim()],
    sshd_config: sshdConfig(facts.folder),
    'etc/passwd': [
      `Administrator:x:0:0::${facts.folder}:${facts.shell}`,
      'root:x:0:0::/root:/bin/sh',
      'sshd:x:100:65534::/run/sshd:/bin/false',
    ],
    'etc/shadow': ['Administrator:*:19000:0:99999:7:::', 'root:*:19000:0:99999:7:::', 'sshd:!:19000::::::'],
    'etc/group': ['root:x:0:', 'nogroup:x:65534:'],
    'etc/hosts': Object.entries(namesOf(facts)).map(([name, address]) => `${address} ${name}`),
    // Without a server to ask every unknown name fails at once instead of after ten seconds.
    'etc/resolv.conf': ['# none'],
  };
  await mkdir(join(facts.folder, 'etc'));
  for (const [name, lines] of Object.entries(files)) {
    await writeFile(join(facts.folder, name), `${lines.join('\n')}\n`, { mode: 0o644 });
  }
}

function settingsOf({ name, address, gateway, wine, bootDelayMs = 500 }: HostFacts): string[] {
  const settings = { name, address, gateway, wine, boot_delay: bootDelayMs / 1000, debug: wineDebug };
  return Object.entries(settings).map(([key, value]) => `${key}='${value}'`);
}

function namesOf({ name, address, gateway, hosts }: HostFacts): Record<string, string> {
  return { localhost: '127.0.0.1', [name]: address, gateway, 'apiserver.test': gateway, ...hosts };
}

function sshdConfig(folder: string): string[] {
  return [
    'Port 22',
    `HostKey ${folder}/hostkey`,
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PermitRootLogin yes',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PrintMotd no',
    `SetEnv WINHOST=${folder}`,
    'Subsystem sftp /usr/lib/openssh/sftp-server',
    // Logs the start of each session.
    'LogLevel VERBOSE',
    // Tests connect many times at once.
    'MaxStartups 100',
    'MaxSessions 100',
  ];
}
