import { byteOrder } from '#base/compare.ts';
import { AppError, attempt } from '#base/errors.ts';
import { agentName } from '#contract/names.ts';
import type { Service } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import type { InstalledService } from '../ports.ts';
import { dependenciesFirst, dependentsOf, isManaged, serviceKey } from '../services/order.ts';

export interface ServicesConfigMapView {
  name: string;
  /** RFC 3339, as in the metadata. */
  createdAt: string;
  data: Readonly<Record<string, string>>;
}

export interface ServiceData {
  /** `merged` when the node runs another version than the latest one. */
  use: 'latest' | 'merged';
  latest: string;
  services: Service[];
  watchedEnvironment: string[];
  /** Removes every service with the managed tag, listed or not; false when the node runs the latest version. */
  removeAllTagged: boolean;
}

/** Chooses the services to remove: those of the latest ConfigMap, and of the version that the node runs. */
export function chooseServiceData(
  configMaps: readonly ServicesConfigMapView[],
  nodeVersion: string | undefined,
): ServiceData {
  const all = configMaps
    .flatMap(view => {
      const version = versionOfServicesConfigMap(view.name);
      return version === undefined ? [] : [{ ...view, version }];
    })
    .sort((one, other) => byteOrder(one.createdAt, other.createdAt) || byteOrder(one.name, other.name));
  const latest = all.at(-1);
  if (latest === undefined) throw noServices('there is none');
  const parsed = attempt(() => parseManifest(latest.data, `ConfigMap ${latest.name}`));
  if (!parsed.ok) throw noServices(parsed.error.message, parsed.error);
  const { services, watchedEnvironment } = parsed.value;
  const data: ServiceData = {
    use: 'latest',
    latest: latest.version,
    services,
    watchedEnvironment,
    removeAllTagged: true,
  };
  if (latest.version === nodeVersion) return { ...data, removeAllTagged: false };
  const own = all.find(({ version }) => version === nodeVersion);
  const other = own === undefined ? undefined : attempt(() => parseManifest(own.data, `ConfigMap ${own.name}`));
  if (!other?.ok) return data;
  return {
    ...data,
    use: 'merged',
    services: mergeServices(services, other.value.services),
    watchedEnvironment: mergeNames(watchedEnvironment, other.value.watchedEnvironment),
  };
}

/** Both lists by priority; of two services with the same name the preferred one. */
export function mergeServices<T extends Pick<Service, 'name' | 'priority'>>(
  preferred: readonly T[],
  other: readonly T[],
): T[] {
  const known = new Set(preferred.map(service => serviceKey(service.name)));
  const added = other.filter(service => !known.has(serviceKey(service.name)));
  return [...preferred, ...added].sort((one, next) => one.priority - next.priority);
}

/** Every name once, in order of first appearance. */
export function mergeNames(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])];
}

export interface Removal {
  do: 'stop' | 'remove';
  name: string;
}

/** Dependents first, then in reverse order of start. Dependents that WMCO did not install are only stopped. */
export function planRemoval(
  installed: readonly InstalledService[],
  listed: readonly Pick<Service, 'name'>[],
  removeAllTagged: boolean,
): Removal[] {
  const rank = new Map(listed.map(({ name }, index) => [serviceKey(name), index]));
  const isOwned = (service: InstalledService) =>
    rank.has(serviceKey(service.name)) || (removeAllTagged && isManaged(service));
  const linked = installed
    .map(service => ({ ...service, dependencies: service.config.dependencies }))
    .sort((one, other) => (rank.get(serviceKey(one.name)) ?? -1) - (rank.get(serviceKey(other.name)) ?? -1));
  const owned = new Set(linked.filter(isOwned));
  const blockers = new Set(
    dependentsOf(
      [...owned].map(({ name }) => name),
      linked,
    ).filter(({ state }) => state !== 'stopped'),
  );
  const removals = dependenciesFirst(linked)
    .toReversed()
    .flatMap((service): Removal[] => {
      if (owned.has(service)) return [{ do: 'remove', name: service.name }];
      return blockers.has(service) ? [{ do: 'stop', name: service.name }] : [];
    });
  // A running agent would reinstall what is removed.
  const isAgent = ({ name }: { name: string }) => serviceKey(name) === serviceKey(agentName);
  const running = linked.filter(service => isAgent(service) && !owned.has(service) && service.state !== 'stopped');
  const agent = [...removals.filter(isAgent), ...running.map(({ name }): Removal => ({ do: 'stop', name }))];
  return [...agent.slice(0, 1), ...removals.filter(removal => !isAgent(removal))];
}

export interface RemovalFailure {
  name: string;
  error: Error;
}

export function removalProblem(failures: readonly RemovalFailure[]): AppError | undefined {
  if (failures.length === 0) return undefined;
  const list = failures.map(({ name, error }) => `${name} (${error.message})`).join(', ');
  return new AppError('CLEANUP_INCOMPLETE', `failed to remove ${failures.length} service(s): ${list}`, {
    remedy: 'Stop and delete them on the host with sc.exe stop and sc.exe delete, or run cleanup again.',
    cause: new AggregateError(failures.map(({ error }) => error)),
  });
}

function noServices(why: string, cause?: AppError): AppError {
  return new AppError('CLEANUP_NO_SERVICES', `cannot get latest services ConfigMap: ${why}`, {
    remedy: 'Start the operator: it creates the ConfigMap.',
    ...(cause !== undefined && { cause }),
  });
}
