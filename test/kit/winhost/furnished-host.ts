import { TestCa } from '../certificates.ts';
import { AgentService } from './agent-service.ts';
import type { WindowsHost } from './host.ts';
import { addRoot } from './sight.ts';
import { difference, takeSnapshot } from './snapshot.ts';
import { dir } from '../../../src/contract/paths.ts';

/** In the trusted CAs of the cluster, too. */
export const administratorCa = new TestCa('administrator').cert;

const environmentKey = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
const ownFiles = [
  'C:\\Temp\\own.txt',
  // The operator has a file of this name, with another content.
  'C:\\Temp\\hns.psm1',
  'C:\\var\\log\\own.log',
  'C:\\k\\own.txt',
  'C:\\k\\cni\\config\\own.conf',
];

/** Files, folders, a variable, a certificate and a service of an administrator, as they exist before a join. */
export async function furnish(host: WindowsHost): Promise<void> {
  for (const path of ownFiles) await host.drive.write(path, `${path} of a user`);
  await addRoot(host, administratorCa);
  const commands = [
    `reg add "${environmentKey}" /v NO_PROXY /d of-the-administrator /f`,
    'sc.exe create backup binPath= "C:\\lab\\programs\\service.exe"',
    'mkdir C:\\Temp\\empty',
  ];
  await host.run(commands.join(' && '));
}

/** Logs stay, and every host has its own name. */
const expected = [`added ${dir.log}\\`, 'changed HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Services\\Tcpip\\'];

/** One line for everything in which a removed host differs from a host that never joined; see docs/removal.md. */
export async function traces(host: WindowsHost, control: WindowsHost): Promise<string[]> {
  const differences = difference(await takeSnapshot(control), await takeSnapshot(host));
  const [running, runningThere] = [await programsOf(host), await programsOf(control)];
  const networks = ['networks', 'endpoints'].flatMap(kind => host.drive.list(`C:\\lab\\hns\\${kind}`));
  return [
    ...differences.filter(line => !expected.some(each => line.toLowerCase().startsWith(each.toLowerCase()))),
    ...running.filter(name => !runningThere.includes(name)).map(name => `runs ${name}`),
    ...networks.map(name => `HNS object ${name}`),
    ...new AgentService(host).pids().map(pid => `agent process ${pid}`),
    ...host.lab.unexpected(),
  ];
}

/** Names of running programs, as tasklist.exe prints them. */
async function programsOf(host: WindowsHost): Promise<string[]> {
  const { stdout } = await host.exec('tasklist');
  return [...stdout.matchAll(/^(\S+\.exe) /gim)].map(([, name = '']) => name);
}
