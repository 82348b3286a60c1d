import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { agentName, managedDescription, serviceName } from '../../../src/contract/names.ts';
import { dir, file } from '../../../src/contract/paths.ts';
import { payloadFor } from '../../../src/node/payload.ts';
import { agentCommand, goKubeconfig, goScripts, ownFiles, ownFolders } from '../../../src/sandbox/go-operator/host.ts';
import { goVersion } from '../../../src/sandbox/go-operator/objects.ts';
import { AgentService } from './agent-service.ts';
import type { WindowsHost } from './host.ts';
import { printMark } from './program-mark.ts';
import { platform, type RealScene } from './real-scene.ts';

/** What is on a host of the Go operator only. */
export interface GoTraces {
  /** SHA-256 of its programs. */
  programs: ReadonlySet<string>;
  /** Files with the certificate and key of its agent. */
  certificates: readonly string[];
}

const dated = `${dir.agentCerts}\\wicd-client-2026-01-02-03-04-05.pem`;

/**
 * Turns a host that has joined into one of the Go operator: a stand-in for its agent, programs of its own, its files, and services that
 * run these programs. No operator may run meanwhile.
 */
export async function turnIntoGoWindowsHost(host: WindowsHost, { cluster, namespace }: RealScene): Promise<GoTraces> {
  const { drive } = host;
  await new AgentService(host).stop();
  const services = Object.values(serviceName).toReversed();
  for (const name of services) await host.exec(`sc.exe stop ${name}`);
  for (const name of services) await untilStopped(host, name);
  for (const folder of ownFolders) await drive.remove(folder);
  for (const name of ownFiles) await drive.remove(`${dir.k}\\${name}`);
  const programs = new Set<string>();
  const paths = payloadFor(platform).map(({ directory, name }) => `${directory}\\${name}`);
  await host.install('service.exe', file.agent);
  for (const path of [...paths.filter(each => each !== file.agent), file.agent]) {
    const mark = Buffer.from(printMark({ release: `${goVersion} ${path}` }));
    const content = Buffer.concat([readFileSync(drive.path(path)), mark]);
    await drive.write(path, content);
    programs.add(sha256(content));
  }
  for (const name of goScripts) await drive.write(`${dir.temp}\\${name}`, `# ${name}\n`);
  const pair = `${drive.read(file.agentCertificate)}${drive.read(file.agentKey) ?? ''}`;
  await drive.remove(file.agentKey);
  for (const path of [dated, file.agentCertificate]) await drive.write(path, pair);
  await drive.write(
    file.agentKubeconfig,
    goKubeconfig(host.name, { apiServerUrl: cluster.url, ca: cluster.cluster.ca }),
  );
  await host.run(`sc.exe delete ${agentName}`);
  await host.run(`sc.exe create ${agentName} binPath= "${agentCommand({ namespace })}" start= auto`);
  await host.run(`sc.exe description ${agentName} "${managedDescription(agentName)}"`);
  for (const name of [...services.toReversed(), agentName]) await host.exec(`sc.exe start ${name}`);
  return { programs, certificates: [dated] };
}

async function untilStopped(host: WindowsHost, name: string): Promise<void> {
  for (const endMs = performance.now() + 60_000; ; ) {
    const { code, stdout } = await host.exec(`sc.exe query ${name}`);
    if (code !== 0 || stdout.includes('STOPPED')) return;
    if (performance.now() > endMs) throw new Error(`${name} does not stop: ${stdout}`);
  }
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
