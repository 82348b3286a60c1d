import { serviceName } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles, ServiceManager } from './ports.ts';

/** Deletes the IP addresses that CNI has allocated in an earlier configuration of the host, unless containerd uses them. */
export async function wipeCniState(files: HostFiles, services: Pick<ServiceManager, 'query'>): Promise<boolean> {
  const { state = 'stopped' } = (await services.query(serviceName.containerd)) ?? {};
  if (state !== 'stopped') return false;
  await files.removeDirectory(dir.cniState);
  await files.makeDirectory(dir.cniState, 'secret');
  return true;
}
