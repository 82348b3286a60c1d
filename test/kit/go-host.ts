import { vi } from 'vitest';
import type { ServiceConfig } from '../../src/agent/ports.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { reportName } from '../../src/contract/agent-report.ts';
import { agentName, configMapName, managedDescription, nodeAnnotation } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { isNotFound, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import * as kinds from '../../src/kube/resources.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { goAgentStamp, stampOf } from '../../src/sandbox/machines/programs/stamp.ts';

export const goVersion = '10.20.0-0123abc';
const waiting = { timeout: 60_000, interval: 10 };

/** Files that only this operator and its agent write. */
const ownFiles = [file.agentKey, 'C:\\k\\wicd-manifest.json', 'C:\\k\\wicd-state.json'];

/**
 * Turns a host that has joined into one of the Go operator: its agent, the marks of its Node and its services ConfigMap.
 * The kubelet and the other services keep running. No operator may run meanwhile.
 */
export async function turnIntoGoHost(host: SimulatedHost, client: Client, namespace: string): Promise<void> {
  const { name, address } = host.spec;
  await replaceAgent(host, namespace);
  const marks = {
    [nodeAnnotation.version]: goVersion,
    [nodeAnnotation.desiredVersion]: goVersion,
    [nodeAnnotation.sshHostKey]: null,
    [nodeAnnotation.sshHostKeyType]: null,
  };
  await client.patch(kinds.nodes, name, { type: 'merge', body: { metadata: { annotations: marks } } });
  await client.delete(windowsInstances, address, { namespace });
  await client.delete(kinds.configMaps, reportName(name), { namespace });
  const keys = { type: 'merge', body: { data: { [address]: null } } } as const;
  await client.patch(kinds.configMaps, configMapName.hostKeys, keys, { namespace }).catch(unless(isNotFound));
  await client.create(kinds.configMaps, {
    metadata: { name: `${configMapName.servicesPrefix}${goVersion}`, namespace },
    data: { services: '[]', files: '[]' },
    immutable: true,
  });
}

async function replaceAgent({ files, services }: SimulatedHost, namespace: string): Promise<void> {
  const command = `${file.agent} controller --windows-service --log-dir ${dir.agentLog} --namespace ${namespace}`;
  const config: ServiceConfig = {
    command: `${command} --kubeconfig ${file.agentKubeconfig} --cert-dir ${dir.agentCerts} --cert-duration 24h`,
    description: managedDescription(agentName),
    dependencies: [],
    startType: 'automatic',
    recovery: undefined,
  };
  await services.stop(agentName);
  const state = async () => (await services.query(agentName))?.state;
  await vi.waitUntil(async () => (await state()) === 'stopped', waiting);
  for (const folder of [dir.agentPrograms, dir.agentNative, dir.staged, dir.incoming])
    await files.removeDirectory(folder);
  // The Go operator stores certificate and key in one file.
  const pair = `${await files.read(file.agentCertificate)}${await files.read(file.agentKey)}`;
  await files.write(file.agentCertificate, pair, 'secret');
  for (const path of ownFiles) await files.remove(path);
  await files.write(file.agent, stampOf(goAgentStamp, goVersion));
  await services.configure(agentName, config);
  await services.start(agentName);
  await vi.waitUntil(async () => (await state()) === 'running', waiting);
}
