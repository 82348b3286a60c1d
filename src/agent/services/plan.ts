import { sameData } from '#base/compare.ts';
import { agentRecovery } from '#contract/agent-command.ts';
import { managedDescription } from '#contract/names.ts';
import type { Service } from '#contract/services/manifest.ts';
import type { InstalledConfig, InstalledService, ServiceConfig } from '../ports.ts';
import { dependantsOf, dependenciesFirst, type Linked, serviceKey } from './order.ts';

export interface DesiredService {
  name: string;
  config: ServiceConfig;
  /** Something has to be brought about before each start: see `prepare` and `powershellPreScripts` of the manifest. */
  prepares: boolean;
  /** A configuration file has changed since the service read it, so that it has to be started anew. */
  filesChanged: boolean;
}

/** One change. It is left undone when an earlier one on the same service, or on one of those it needs, has failed. */
export type ServiceAction = { name: string; needs: readonly string[] } & (
  | { do: 'create' | 'configure'; config: ServiceConfig }
  | { do: 'stop' | 'prepare' | 'start' }
);

export interface ServicesPlan {
  actions: ServiceAction[];
  /** Services of others that are stopped on the way; to be remembered until they run again. */
  outside: string[];
}

/** What a service of the manifest has to look like on the host, its command being expanded already. */
export function desiredService(service: Service, command: string): DesiredService {
  return {
    name: service.name,
    config: {
      command,
      description: managedDescription(service.name),
      dependencies: service.dependencies,
      // What makes the Node a Node must come back after a reboot even when the API server cannot be reached.
      startType: service.bootstrap ? 'automatic' : 'manual',
      recovery: agentRecovery,
    },
    prepares: service.prepare.length > 0 || service.preScripts.some(script => script.variable === undefined),
    filesChanged: false,
  };
}

/**
 * The way from the services as they are to the services wanted. Whoever depends on a service that has to be stopped is
 * stopped before it and started after it; whatever is as it should be is not touched.
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
  return {
    actions: [
      ...stops.map(({ name }): ServiceAction => ({ do: 'stop', name, needs: stoppedBefore(name, stops, installed) })),
      ...dependenciesFirst(wanted.map(withDependencies)).flatMap(service =>
        bringUp(service, byKey.get(serviceKey(service.name)), stopped),
      ),
      ...outside.map(({ name, dependencies }): ServiceAction => ({ do: 'start', name, needs: dependencies })),
    ],
    outside: names(outside),
  };
}

type Installed = InstalledService & Linked;

/** The services to stop, dependants first. */
function findStops(wanted: readonly DesiredService[], installed: readonly Installed[]): Installed[] {
  const byKey = new Map(wanted.map(service => [serviceKey(service.name), service]));
  const changed = installed.filter(service => {
    const desired = byKey.get(serviceKey(service.name));
    return desired !== undefined && service.state !== 'stopped' && needsRestart(desired, service);
  });
  const stops = new Set([...changed, ...dependantsOf(names(changed), installed)]);
  return installed.filter(service => stops.has(service) && service.state !== 'stopped').toReversed();
}

function stoppedBefore(name: string, stops: readonly Installed[], installed: readonly Installed[]): string[] {
  const dependants = dependantsOf([name], installed);
  return names(stops.filter(service => dependants.includes(service)));
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

/** Services of others to start again: those that ran until we stopped them, now or in a pass that was cut short. */
function findOutside(
  wanted: readonly DesiredService[],
  installed: readonly Installed[],
  stops: readonly Installed[],
  remembered: readonly string[],
): Installed[] {
  const ours = new Set(names(wanted).map(serviceKey));
  const before = new Set(remembered.map(serviceKey));
  return installed.filter(service => {
    const key = serviceKey(service.name);
    // Windows refuses to start what is disabled, so there is no use in trying.
    if (ours.has(key) || service.config.startType === 'disabled') return false;
    if (before.has(key) && service.state !== 'running') return true;
    return stops.includes(service) && service.state !== 'stop-pending';
  });
}

function needsRestart(desired: DesiredService, actual: InstalledService): boolean {
  return (
    desired.filesChanged ||
    desired.config.command !== actual.config.command ||
    !sameNames(desired.config.dependencies, actual.config.dependencies) ||
    actual.state === 'paused' ||
    actual.state === 'pause-pending'
  );
}

/** Description, start type and recovery take effect without a restart; command and dependencies do not. */
function differs(one: ServiceConfig, other: InstalledConfig): boolean {
  return (
    one.command !== other.command ||
    one.description !== other.description ||
    one.startType !== other.startType ||
    !sameNames(one.dependencies, other.dependencies) ||
    // What cannot be read was set with the rest, and to set it again in every pass would tell no more.
    (other.recovery !== 'unreadable' && !sameData(one.recovery, other.recovery))
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
