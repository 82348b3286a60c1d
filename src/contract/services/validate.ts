import { AppError } from '#base/errors.ts';
import { byPriority, type Service } from './manifest.ts';

export const remedy = 'Delete the ConfigMap; the operator writes it again.';

/** Every service needs a unique name and a command. */
export function checkNames(services: readonly Service[], label = 'services ConfigMap'): void {
  const seen = new Set<string>();
  const problems = services.flatMap((service, index) => {
    if (service.name.trim() === '') return [`service number ${index + 1} has no name`];
    if (service.command.trim() === '') return [`service ${service.name} has no command`];
    if (seen.has(key(service.name))) return [`service ${service.name} is listed twice`];
    seen.add(key(service.name));
    return [];
  });
  if (problems.length > 0) throw new AppError('SERVICES_MALFORMED', `${label}: ${problems.join('; ')}`, { remedy });
}

/** Bootstrap services run before the Node exists, so they must not depend on it or on services that need it. */
export function checkDependencies(services: readonly Service[], label = 'services ConfigMap'): void {
  const byName = new Map(services.map(service => [key(service.name), service]));
  const problems = services
    .filter(service => service.bootstrap)
    .flatMap(service => {
      const late = service.dependencies.filter(name => byName.get(key(name))?.bootstrap === false);
      return [
        ...(needsNode(service) ? [`bootstrap service ${service.name} cannot require node variables`] : []),
        ...late.map(name => `bootstrap service ${service.name} cannot depend on non-bootstrap service ${name}`),
      ];
    });
  const cycle = findCycle(byName);
  if (cycle !== undefined) problems.push(`cyclical dependency: ${cycle.join(' -> ')}`);
  if (problems.length > 0) {
    throw new AppError('SERVICES_DEPENDENCY_INVALID', `${label}: ${problems.join('; ')}`, { remedy });
  }
}

/** All bootstrap services must have lower priorities than the others. */
export function checkPriorities(services: readonly Service[], label = 'services ConfigMap'): void {
  const sorted = byPriority(services);
  const lastBootstrap = sorted.findLast(service => service.bootstrap);
  const early = sorted.find(service => !service.bootstrap);
  if (lastBootstrap === undefined || early === undefined || early.priority > lastBootstrap.priority) return;
  throw new AppError(
    'SERVICES_PRIORITY_INVALID',
    `${label}: service ${early.name} (priority ${early.priority}) does not come after bootstrap service ` +
      `${lastBootstrap.name} (priority ${lastBootstrap.priority})`,
    { remedy },
  );
}

/** Problems that are not errors, for `wmco check services`. */
export function servicesWarnings(services: readonly Service[]): string[] {
  const byName = new Map(services.map(service => [key(service.name), service]));
  return services.flatMap(service =>
    service.dependencies.flatMap(name => {
      const dependency = byName.get(key(name));
      if (dependency === undefined)
        return [`service ${service.name} depends on ${name}, which is not in the ConfigMap`];
      return dependency.priority > service.priority
        ? [
            `service ${service.name} (priority ${service.priority}) depends on ${name} (priority ${dependency.priority})`,
          ]
        : [];
    }),
  );
}

function needsNode(service: Service): boolean {
  return service.nodeVariables.length > 0 || service.preScripts.some(script => script.args.length > 0);
}

/** Windows ignores case in service names. */
function key(name: string): string {
  return name.toLowerCase();
}

/** Depth-first search; returns the names on the first cycle. */
function findCycle(byName: ReadonlyMap<string, Service>): string[] | undefined {
  const done = new Set<string>();
  for (const start of byName.keys()) {
    const path = new Set<string>();
    const visits = [{ name: start, leave: false }];
    for (let visit = visits.pop(); visit !== undefined; visit = visits.pop()) {
      const { name, leave } = visit;
      if (leave) {
        path.delete(name);
        done.add(name);
      } else if (path.has(name)) {
        const names = [...path, name].map(one => byName.get(one)?.name ?? one);
        return names.slice([...path].indexOf(name));
      } else if (!done.has(name) && byName.has(name)) {
        path.add(name);
        visits.push({ name, leave: true });
        for (const next of byName.get(name)?.dependencies ?? []) visits.push({ name: key(next), leave: false });
      }
    }
  }
  return undefined;
}
