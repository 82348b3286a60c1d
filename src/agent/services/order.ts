import { managedTag } from '#contract/names.ts';
import type { InstalledService } from '../ports.ts';

export interface Linked {
  name: string;
  dependencies: readonly string[];
}

/** Windows compares service names without regard to case. */
export function serviceKey(name: string): string {
  return name.toLowerCase();
}

/** True for a service that WMCO has installed. */
export function isManaged({ config }: Pick<InstalledService, 'config'>): boolean {
  return config.description.includes(managedTag);
}

/** Every service after its dependencies, otherwise in the given order. A cycle is cut where it closes. */
export function dependenciesFirst<T extends Linked>(services: readonly T[]): T[] {
  const byKey = new Map(services.map(service => [serviceKey(service.name), service]));
  const ordered = new Set<T>();
  const entered = new Set<T>();
  const open = services.toReversed().map(service => ({ service, leave: false }));
  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const { service, leave } = visit;
    if (leave) ordered.add(service);
    if (leave || entered.has(service)) continue;
    entered.add(service);
    open.push({ service, leave: true });
    for (const name of service.dependencies.toReversed()) {
      const dependency = byKey.get(serviceKey(name));
      if (dependency !== undefined) open.push({ service: dependency, leave: false });
    }
  }
  return [...ordered];
}

/** All services that depend on one of the names, directly or indirectly, without the named ones. */
export function dependentsOf<T extends Linked>(names: readonly string[], services: readonly T[]): T[] {
  const roots = new Set(names.map(serviceKey));
  const reached = new Set(roots);
  const found = new Set<T>();
  for (let grown = true; grown; ) {
    grown = false;
    for (const service of services) {
      if (found.has(service) || !service.dependencies.some(name => reached.has(serviceKey(name)))) continue;
      found.add(service);
      reached.add(serviceKey(service.name));
      grown = true;
    }
  }
  return services.filter(service => found.has(service) && !roots.has(serviceKey(service.name)));
}

/** A number for each service by its key; services that are linked through dependencies have the same. */
export function linkedGroups(services: readonly Linked[]): Map<string, number> {
  const groups = new Map(services.map(({ name }, index) => [serviceKey(name), index]));
  for (const { name, dependencies } of services) {
    for (const dependency of dependencies) {
      const [own, other] = [groups.get(serviceKey(name)), groups.get(serviceKey(dependency))];
      if (own === undefined || other === undefined || own === other) continue;
      for (const [key, group] of groups) if (group === other) groups.set(key, own);
    }
  }
  return groups;
}
