import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toBase64 } from '../../../src/base/bytes.ts';
import { windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import { dir, file } from '../../../src/contract/paths.ts';
import { configMaps, events, nodes } from '../../../src/kube/resources.ts';
import type { WindowsHost } from './host.ts';
import { planted, type RealScene } from './real-scene.ts';

/** All secrets of operator, agent and kubelet, in each encoding in which they could be written. */
export function plantedSecrets(scene: RealScene, hosts: readonly WindowsHost[]): string[] {
  const lines = scene.privateKey.split('\n').filter(line => line !== '' && !line.startsWith('-'));
  const tokens = hosts.flatMap(({ drive }) =>
    [file.bootstrapKubeconfig, file.agentKubeconfig].flatMap(path => {
      const [, token] = /"token":"([^"]+)"/.exec(drive.read(path) ?? '') ?? [];
      return token === undefined ? [] : [token];
    }),
  );
  // The head of a token is the same for all, and its last part alone is enough to use it.
  const signatures = [scene.operatorToken, ...tokens].map(token => token.split('.').at(-1) ?? '');
  const [, password = ''] = planted.login.split(':');
  const plain = [...lines, ...signatures, planted.tlsKey, planted.login, password];
  return [...new Set([...plain, ...plain.map(text => toBase64(text))])];
}

/** Where any of them can be read that is not meant for it, as `place: its first characters`. */
export async function findSecrets(
  scene: RealScene,
  secrets: readonly string[],
  hosts: readonly WindowsHost[],
): Promise<string[]> {
  const { admin, lab, namespace } = scene;
  const folder = join(lab.folder, 'operator');
  const logs = readdirSync(folder).filter(name => name.endsWith('.log'));
  const listed = await Promise.all([
    admin.listAll(events),
    admin.listAll(configMaps),
    admin.listAll(nodes),
    admin.listAll(windowsInstances, { namespace }),
  ]);
  const texts = [
    ...logs.map(name => [`log ${name}`, readFileSync(join(folder, name), 'utf8')] as const),
    ...hosts.map(host => [`logs of ${host.name}`, hostLogs(host)] as const),
    ...listed.flatMap(({ items }) => items.map(item => [item.metadata.name ?? '', JSON.stringify(item)] as const)),
  ];
  return texts.flatMap(([place, text]) =>
    secrets.filter(secret => text.includes(secret)).map(secret => `${place}: ${secret.slice(0, 12)}`),
  );
}

/** What the programs on a host have logged. */
function hostLogs({ drive }: WindowsHost): string {
  const files = readdirSync(drive.path(dir.log), { recursive: true, withFileTypes: true }).filter(entry =>
    entry.isFile(),
  );
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}
