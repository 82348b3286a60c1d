import { messageOf } from '#base/errors.ts';
import { activationService, agentName } from '#contract/names.ts';
import type { Service } from '#contract/services/manifest.ts';
import { mergeNames, type Removal } from '../cleanup/decide.ts';
import type { Files, InstalledService, ServiceManager, System } from '../ports.ts';
import { dependentsOf, isManaged, serviceKey } from '../services/order.ts';
import { changeState, readState } from '../state.ts';

interface LeftoverPorts {
  files: Files;
  services: ServiceManager;
  system: Pick<System, 'flushServices'>;
}

/** Services of WMCO; recorded before a swap stops them, because the set in place then may not have them. */
export async function rememberSwapped(removals: readonly Removal[], files: Files): Promise<void> {
  const names = removals.filter(removal => removal.do === 'remove').map(({ name }) => name);
  const { swappedServices } = await readState(files);
  await changeState(files, { swappedServices: mergeNames(swappedServices, names) });
}

/**
 * Removes the services that a swap has stopped and that the version in place does not have; a swap back has them created
 * again. Called when the host is configured. One that runs again, or that a service of others needs, is left to `cleanup`.
 */
export async function removeLeftovers(
  wanted: readonly Pick<Service, 'name'>[],
  { files, services, system }: LeftoverPorts,
  onWarning: (text: string) => void,
): Promise<void> {
  const { swappedServices } = await readState(files);
  if (swappedServices.length === 0) return;
  const installed = await services.list();
  const leftovers = findLeftovers(wanted, swappedServices, installed);
  const failed: string[] = [];
  for (const service of leftovers) {
    const { name } = service;
    const warn = (why: string) => onWarning(`Service ${name} of another version was not removed: ${why}`);
    const use = useOf(service, leftovers, installed);
    if (use !== undefined) {
      warn(use);
      continue;
    }
    try {
      await services.remove(name);
    } catch (error) {
      failed.push(name);
      warn(messageOf(error));
    }
  }
  // Windows writes its registry late, and a power cut would bring the services back.
  if (leftovers.length > 0) await system.flushServices();
  await changeState(files, { swappedServices: failed });
}

function findLeftovers(
  wanted: readonly Pick<Service, 'name'>[],
  swapped: readonly string[],
  installed: readonly InstalledService[],
): InstalledService[] {
  const kept = new Set([agentName, activationService, ...wanted.map(({ name }) => name)].map(serviceKey));
  const stopped = new Set(swapped.map(serviceKey));
  return installed.filter(service => {
    const key = serviceKey(service.name);
    return stopped.has(key) && !kept.has(key) && isManaged(service);
  });
}

/** Why a service is still used; undefined when it is not. */
function useOf(
  { name, state }: InstalledService,
  leftovers: readonly InstalledService[],
  installed: readonly InstalledService[],
): string | undefined {
  if (state !== 'stopped') return `its state is ${state}`;
  const linked = installed.map(service => ({ ...service, dependencies: service.config.dependencies }));
  const isLeftover = (key: string) => leftovers.some(service => serviceKey(service.name) === key);
  const user = dependentsOf([name], linked).find(service => !isLeftover(serviceKey(service.name)));
  return user === undefined ? undefined : `${user.name} depends on it`;
}
