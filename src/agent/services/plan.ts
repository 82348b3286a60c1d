import { sameData } from '#base/compare.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { managedDescription } from '#contract/names.ts';
import type { Service } from '#contract/services/manifest.ts';
import type { InstalledConfig, InstalledService, ServiceConfig } from '../ports.ts';
import { dependentsOf, dependenciesFirst, type Linked, linkedGroups, serviceKey } from './order.ts';

export interface DesiredService {
  name: string;
  config: ServiceConfig;
  /** Has preparations before each start: `prepare` and `powershellPreScripts` of the manifest. */
  prepares: boolean;
  /** A file that the service reads has changed, so that it has to be restarted. */
  filesChanged: boolean;
  /** Its process sees other variables after a restart. */
  environmentChanged: boolean;
}

/** One change. It is skipped when an earlier one of the same service, or of one that it needs, has failed. */
export type ServiceAction = { name: string; needs: readonly string[] } & (
  | { do: 'create' | 'configure'; config: ServiceConfig }
  | { do: 'stop' | 'prepare' }
  | { do: 'start' }
);

export interface ServicesPlan {
  actions: ServiceAction[];
  /** Services not installed by WMCO that are stopped temporarily; recorded until they run again. */
  outside: string[];
}

/** The desired state of a service of the manifest, with its expanded command. */
export function desiredService(service: Service, command: string): DesiredService {
  return {
    name: service.name,
    config: {
      command,
      description: managedDescription(service.name),
      dependencies: service.dependencies,
      // Bootstrap services must start after a reboot even when the API server cannot be reached.
      startType: service.bootstrap ? 'automatic' : 'manual',
      recovery: agentRecovery,
    },
    prepares: service.prepare.length > 0 || service.preScripts.some(script => script.variable === undefined),
    filesChanged: false,
    environmentChanged: false,
  };
}

/**
 * The actions from actual to desired services. Dependents of a service that has to be stopped are stopped before it and
 * started after it; services in the desired state are not touched. Services that do not depend on each other are
 * restarted in turn, those with most dependents last.
 */
export function planServices(
  wanted: readonly DesiredService[],
  actual: readonly InstalledService[],
  remembered: readonly string[] = [],
): ServicesPlan {
  const installed = dependenciesFirst(actual.map(withDependencies));
  const byKey = new Map(installed.map(service => [serviceKey(service.name), service]));
  const stops = findStops(wanted, installed);
  const stopped = new Set(names(stops).map(serviceKey));
  const outside = findOutside(wanted, installed, stops, remembered);
  const desired = dependenciesFirst(wanted.map(withDependencies));
  const actions: ServiceAction[] = [
    ...stops.map(({ name }): ServiceAction => ({ do: 'stop', name, needs: stoppedBefore(name, stops, installed) })),
    ...desired.flatMap(service => bringUp(service, byKey.get(serviceKey(service.name)), stopped)),
    ...outside.map(({ name, dependencies }): ServiceAction => ({ do: 'start', name, needs: dependencies })),
  ];
  return { actions: inTurn(actions, [...installed, ...desired]), outside: names(outside) };
}

/** Restarts groups of linked services one after the other, the largest last and together with all other actions. */
function inTurn(actions: readonly ServiceAction[], services: readonly Linked[]): ServiceAction[] {
  const acted = names(actions);
  const keys = new Set(acted.map(serviceKey));
  const dependents = new Set(dependentsOf(acted, services));
  const groupOf = linkedGroups(services.filter(one => keys.has(serviceKey(one.name)) || dependents.has(one)));
  const group = ({ name }: ServiceAction) => groupOf.get(serviceKey(name));
  const byGroup = Map.groupBy(
    actions.filter(action => action.do === 'stop'),
    group,
  );
  const early = [...byGroup.entries()]
    .toSorted(([, one], [, other]) => one.length - other.length)
    .slice(0, -1)
    .map(([number]) => number);
  const rest = actions.filter(action => !early.includes(group(action)));
  return [...early.flatMap(number => actions.filter(action => group(action) === number)), ...rest];
}

type Installed = InstalledService & Linked;

/** The services to stop, dependents first. */
function findStops(wanted: readonly DesiredService[], installed: readonly Installed[]): Installed[] {
  const byKey = new Map(wanted.map(service => [serviceKey(service.name), service]));
  const changed = installed.filter(service => {
    const desired = byKey.get(serviceKey(service.name));
    return desired !== undefined && service.state !== 'stopped' && needsRestart(desired, service);
  });
  const stops = new Set([...changed, ...dependentsOf(names(changed), installed)]);
  return installed.filter(service => stops.has(service) && service.state !== 'stopped').toReversed();
}

function stoppedBefore(name: string, stops: readonly Installed[], installed: readonly Installed[]): string[] {
  const dependents = dependentsOf([name], installed);
  return names(stops.filter(service => dependents.includes(service)));
}

function bringUp(
  desired: DesiredService,
  actual: InstalledService | undefined,
  stopped: ReadonlySet<string>,
): ServiceAction[] {
  const { name, config } = desired;
  const runs = actual?.state === 'running' && !stopped.has(serviceKey(name));
  const actions: ServiceAction[] = [];
  if (actual === undefined) actions.push({ do: 'create', name, config, needs: [] });
  else if (differs(config, actual.config)) actions.push({ do: 'configure', name, config, needs: [] });
  if (desired.prepares) actions.push({ do: 'prepare', name, needs: config.dependencies });
  if (!runs) actions.push({ do: 'start', name, needs: config.dependencies });
  return actions;
}

/** Services not installed by WMCO that were stopped, now or in an interrupted pass, and have to be started again. */
function findOutside(
  wanted: readonly DesiredService[],
  installed: readonly Installed[],
  stops: readonly Installed[],
  remembered: readonly string[],
): Installed[] {
  const listed = new Set(names(wanted).map(serviceKey));
  const before = new Set(remembered.map(serviceKey));
  return installed.filter(service => {
    const key = serviceKey(service.name);
    // Windows does not start disabled services.
    if (listed.has(key) || service.config.startType === 'disabled') return false;
    if (before.has(key) && service.state !== 'running') return true;
    return stops.includes(service) && service.state !== 'stop-pending';
  });
}

function needsRestart(desired: DesiredService, actual: InstalledService): boolean {
  return (
    desired.filesChanged ||
    desired.environmentChanged ||
    desired.config.command !== actual.config.command ||
    !sameNames(desired.config.dependencies, actual.config.dependencies) ||
    actual.state === 'paused' ||
    actual.state === 'pause-pending'
  );
}

/** Description, start type and recovery take effect without a restart; command, dependencies and variables do not. */
function differs(one: ServiceConfig, other: InstalledConfig): boolean {
  return (
    one.command !== other.command ||
    one.description !== other.description ||
    one.startType !== other.startType ||
    !sameNames(one.dependencies, other.dependencies) ||
    // Unreadable recovery was set with the rest; setting it in every pass would change nothing.
    (other.recovery !== 'unreadable' && !sameData(one.recovery, other.recovery)) ||
    (one.environment !== undefined && !sameData(one.environment, other.environment))
  );
}

function sameNames(one: readonly string[], other: readonly string[]): boolean {
  return sameData(one.map(serviceKey), other.map(serviceKey));
}

function withDependencies<T extends { config: Pick<ServiceConfig, 'dependencies'> }>(
  service: T,
): T & Pick<Linked, 'dependencies'> {
  return { ...service, dependencies: service.config.dependencies };
}

function names(services: readonly { name: string }[]): string[] {
  return services.map(service => service.name);
}
