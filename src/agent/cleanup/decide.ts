import { byteOrder } from '#base/compare.ts';
import { AppError, attempt } from '#base/errors.ts';
import { agentName, managedTag } from '#contract/names.ts';
import type { Service } from '#contract/services/manifest.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import type { InstalledService } from '../ports.ts';
import { dependantsOf, dependenciesFirst, serviceKey } from '../services/order.ts';

export interface ServicesConfigMapView {
  name: string;
  /** RFC 3339, as in the metadata. */
  createdAt: string;
  data: Readonly<Record<string, string>>;
}

export interface ServiceData {
  /** `merged` when the node runs another version than the latest. */
  use: 'latest' | 'merged';
  latest: string;
  services: Service[];
  watchedEnvironment: string[];
  /** Whether every service with our tag goes, listed or not: unless the node runs exactly the latest version. */
  removeAllTagged: boolean;
}

/** Which services ConfigMaps tell what has to be removed: the latest, and the one of the version the node runs. */
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

/** Both lists in the order of their priorities; of two services with one name the preferred one. */
export function mergeServices<T extends Pick<Service, 'name' | 'priority'>>(
  preferred: readonly T[],
  other: readonly T[],
): T[] {
  const known = new Set(preferred.map(service => serviceKey(service.name)));
  const added = other.filter(service => !known.has(serviceKey(service.name)));
  return [...preferred, ...added].sort((one, next) => one.priority - next.priority);
}

/** Every name once, in the order in which they are met. */
export function mergeNames(first: readonly string[], second: readonly string[]): string[] {
  return [...new Set([...first, ...second])];
}

export interface Removal {
  do: 'stop' | 'remove';
  name: string;
}

/** What to do in which order: dependants first, otherwise the last to start is the first to go. Others are only stopped. */
export function planRemoval(
  installed: readonly InstalledService[],
  listed: readonly Pick<Service, 'name'>[],
  removeAllTagged: boolean,
): Removal[] {
  const rank = new Map(listed.map(({ name }, index) => [serviceKey(name), index]));
  const isOurs = ({ name, config }: InstalledService) =>
    rank.has(serviceKey(name)) || (removeAllTagged && config.description.includes(managedTag));
  const linked = installed
    .map(service => ({ ...service, dependencies: service.config.dependencies }))
    .sort((one, other) => (rank.get(serviceKey(one.name)) ?? -1) - (rank.get(serviceKey(other.name)) ?? -1));
  const ours = new Set(linked.filter(isOurs));
  const inTheWay = new Set(
    dependantsOf(
      [...ours].map(({ name }) => name),
      linked,
    ).filter(({ state }) => state !== 'stopped'),
  );
  const removals = dependenciesFirst(linked)
    .toReversed()
    .flatMap((service): Removal[] => {
      if (ours.has(service)) return [{ do: 'remove', name: service.name }];
      return inTheWay.has(service) ? [{ do: 'stop', name: service.name }] : [];
    });
  // An agent that runs would bring back what is taken away.
  const isAgent = ({ name }: { name: string }) => serviceKey(name) === serviceKey(agentName);
  const running = linked.filter(service => isAgent(service) && !ours.has(service) && service.state !== 'stopped');
  const agent = [...removals.filter(isAgent), ...running.map(({ name }): Removal => ({ do: 'stop', name }))];
  return [...agent.slice(0, 1), ...removals.filter(removal => !isAgent(removal))];
}

export interface RemovalFailure {
  name: string;
  error: Error;
}

/** Nothing else is taken from a host whose services still run. */
export function removalProblem(failures: readonly RemovalFailure[]): AppError | undefined {
  if (failures.length === 0) return undefined;
  const list = failures.map(({ name, error }) => `${name} (${error.message})`).join(', ');
  return new AppError('CLEANUP_INCOMPLETE', `failed to remove ${failures.length} service(s): ${list}`, {
    remedy: 'Stop and delete them on the host with sc.exe, or run the clean-up again.',
    cause: new AggregateError(failures.map(({ error }) => error)),
  });
}

function noServices(why: string, cause?: AppError): AppError {
  return new AppError('CLEANUP_NO_SERVICES', `cannot get latest services ConfigMap: ${why}`, {
    remedy: 'Let the operator run: it writes the ConfigMap at its start.',
    ...(cause !== undefined && { cause }),
  });
}
