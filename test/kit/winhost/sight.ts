import { createHash, X509Certificate } from 'node:crypto';
import { agentName, serviceName } from '../../../src/contract/names.ts';
import { dir } from '../../../src/contract/paths.ts';
import type { WindowsHost } from './host.ts';

/** What an administrator sees on a host with the tools of Windows, so that a test need not believe the agent. */

/** A service by sc.exe, reg.exe and tasklist.exe. */
export interface SeenService {
  /** As sc.exe spells it, such as `RUNNING`. */
  state: string;
  /** Of the double; 0 when that process is gone. */
  pid: number;
  command: string;
  description: string;
  dependencies: string[];
  startsAtBoot: boolean;
}

export type SeenServices = Readonly<Record<string, SeenService>>;

const servicesKey = 'HKLM\\SYSTEM\\CurrentControlSet\\Services';
const rootsKey = 'HKLM\\SOFTWARE\\Microsoft\\SystemCertificates\\ROOT\\Certificates';
const variablesKey = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';

/** The services of the manifest, the agent and whatever else is named, as far as they exist. */
export async function seeServices(host: WindowsHost, more: readonly string[] = []): Promise<SeenServices> {
  const names = [...Object.values(serviceName), agentName, ...more];
  const queries = names.map(name => `sc.exe query ${name}`);
  const text = (await host.exec([`reg query ${servicesKey} /s`, ...queries, 'tasklist'].join(' & '))).stdout;
  const keys = new Map(readKeys(text).map(([key, values]) => [key.split('\\').at(-1), values]));
  const states = new Map(
    [...text.matchAll(/SERVICE_NAME: (\S+)\s[^]*?STATE\s+: \d+ +(\w+)/g)].map(
      ([, ...it]) => [...it] as [string, string],
    ),
  );
  const pids = new Set([...text.matchAll(/^.{25} +(\d+) /gm)].map(([, pid]) => Number(pid)));
  return Object.fromEntries(
    names.flatMap(name => {
      const [values, state] = [keys.get(name), states.get(name)];
      if (values === undefined || state === undefined) return [];
      const pid = host.lab.serviceEvents(name).at(-1)?.pid ?? 0;
      const seen = {
        state,
        pid: pids.has(pid) ? pid : 0,
        command: values['ImagePath'] ?? '',
        description: values['Description'] ?? '',
        dependencies: (values['DependOnService'] ?? '').split('\\0').filter(Boolean),
        startsAtBoot: values['Start'] === '0x2',
      };
      return [[name, seen]];
    }),
  );
}

/** Variables of the services of the manifest, as far as they have any. */
export async function seeServiceVariables(host: WindowsHost): Promise<Record<string, Record<string, string>>> {
  const queries = Object.values(serviceName).map(name => `reg query ${servicesKey}\\${name} /v Environment`);
  const keys = readKeys((await host.exec(queries.join(' & '))).stdout);
  return Object.fromEntries(
    keys.map(([key, values]) => {
      const lines = (values['Environment'] ?? '').split('\\0').filter(Boolean);
      const variables = lines.map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
      return [key.split('\\').at(-1) ?? '', Object.fromEntries(variables) as Record<string, string>];
    }),
  );
}

/** Machine variables by their registry key. */
export async function seeVariables(host: WindowsHost): Promise<Record<string, string>> {
  return readKeys((await host.exec(`reg query "${variablesKey}"`)).stdout)[0]?.[1] ?? {};
}

/** SHA-1 of every root certificate of the machine, in upper case as Windows has it. */
export async function seeRoots(host: WindowsHost): Promise<string[]> {
  const { stdout } = await host.exec(`reg query ${rootsKey}`);
  return [...stdout.matchAll(/\\Certificates\\([0-9A-F]{40})\s*$/gm)].flatMap(([, name]) => name ?? []).toSorted();
}

/** As it stands in the list of seeRoots. */
export function thumbprint(pem: string): string {
  return createHash('sha1').update(new X509Certificate(pem).raw).digest('hex').toUpperCase();
}

/** Puts a root certificate where an administrator would have put it. */
export async function addRoot(host: WindowsHost, pem: string): Promise<void> {
  const { raw } = new X509Certificate(pem);
  // A list of properties: its SHA-1, then the certificate itself.
  const blob = [[3, createHash('sha1').update(raw).digest()] as const, [32, raw] as const].flatMap(
    ([property, data]) => [Buffer.from(Uint32Array.of(property, 1, data.length).buffer), data],
  );
  await host.run(
    `reg add ${rootsKey}\\${thumbprint(pem)} /v Blob /t REG_BINARY /d ${Buffer.concat(blob).toString('hex')} /f`,
  );
}

/** Sockets that anybody may connect to, as `address:port program`; SSH is of the host itself. */
export async function seeListeners(host: WindowsHost): Promise<string[]> {
  const { stdout } = await host.enter('ss', ['-Hltnp']);
  return stdout.split('\n').filter(line => line !== '' && !line.includes('"sshd"'));
}

/** All that the agent has logged. */
export function agentLog(host: WindowsHost): string {
  return host.drive.read(`${dir.agentLog}\\${agentName}.exe.INFO`) ?? '';
}

/** How many passes have come to an end, good or bad. */
export function passesOf(host: WindowsHost): number {
  return new Set(agentLog(host).match(/reconcileId=\S+/g)).size;
}

/** What reg.exe prints: a key, then its values with name, type and data. */
function readKeys(text: string): [key: string, values: Record<string, string>][] {
  const keys: [string, Record<string, string>][] = [];
  for (const line of text.split(/\r?\n/)) {
    const [key] = /^HKEY_LOCAL_MACHINE\\.*/.exec(line) ?? [];
    if (key !== undefined) keys.push([key, {}]);
    const [, name, data] = /^ {4}(\S+) +REG_\w+ *(.*)$/.exec(line) ?? [];
    const values = keys.at(-1)?.[1];
    if (name !== undefined && values !== undefined) values[name] = data ?? '';
  }
  return keys;
}
