import { serviceName } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles, ServiceManager } from './ports.ts';

/**
 * Forgets the addresses that CNI has given to containers of an earlier life of the host: in another cluster they are of another
 * network. While containerd runs they are in use.
 */
export async function wipeCniState(files: HostFiles, services: Pick<ServiceManager, 'query'>): Promise<boolean> {
  const { state = 'stopped' } = (await services.query(serviceName.containerd)) ?? {};
  if (state !== 'stopped') return false;
  await files.removeDirectory(dir.cniState);
  await files.makeDirectory(dir.cniState, 'secret');
  return true;
}
