import { isRecord } from '#base/fields.ts';
import { isReportName, maxReportBytes } from '#contract/agent-report.ts';
import { maxRequestCharacters } from '#contract/csr-request.ts';
import { signer } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import { workerFile } from '#contract/worker-files.ts';
import type { Client, ListOptions, WatchOptions } from '#kube/client.ts';
import type { KubeList, KubeResource, Resource, WatchEvent } from '#kube/resource.ts';
import {
  type CertificateSigningRequest,
  certificateSigningRequests,
  type ConfigMap,
  configMaps,
  type Node,
  nodes,
} from '#kube/resources.ts';
import { type MachineConfig, machineConfigs } from '#kube/resources-openshift.ts';
import { kubeletUnitName, renderedPrefix } from './ignition.ts';

type Watching = Pick<Client, 'list' | 'watch'>;

/**
 * A client for informers that leaves out what nobody reads but every object of the kind carries: a rendered MachineConfig
 * has hundreds of kilobytes, and a Node the list of its images.
 */
export function slimClient(client: Watching): Watching {
  return {
    async list<T extends KubeResource>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>> {
      const page = await client.list(resource, options);
      const slim = slimmerOf(resource);
      return slim === undefined ? page : { ...page, items: page.items.map(slim) };
    },
    watch<T extends KubeResource>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>> {
      const events = client.watch(resource, options);
      const slim = slimmerOf(resource);
      return slim === undefined ? events : slimmed(events, slim);
    },
  };
}

async function* slimmed<T extends KubeResource>(
  events: AsyncIterable<WatchEvent<T>>,
  slim: (object: T) => T,
): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    yield event.type === 'BOOKMARK' ? event : { ...event, object: slim(event.object) };
  }
}

function slimmerOf<T extends KubeResource>(resource: Resource<T>): ((object: T) => T) | undefined {
  const slim = slimmers.get(`${resource.plural}.${resource.group}`);
  return slim as ((object: T) => T) | undefined;
}

/** Without images and volumes. */
export function slimNode(node: Node): Node {
  if (!isRecord(node.status)) return node;
  const kept = Object.entries(node.status).filter(([member]) => !unread.has(member));
  return { ...node, status: Object.fromEntries(kept) };
}

const unread = new Set(['images', 'volumesAttached', 'volumesInUse']);

const files: readonly string[] = Object.values(workerFile);

/** Of configs rendered for workers the parts that Windows nodes share; of all others that they exist. */
export function slimMachineConfig(object: MachineConfig): MachineConfig {
  const { spec, ...rest } = object;
  if (!object.metadata.name?.startsWith(renderedPrefix)) return { ...rest, spec: {} };
  const config: unknown = spec?.config;
  // What has another shape is left to the reader, who can say what is wrong with it.
  if (!isRecord(config) || !isRecord(config['systemd']) || !isRecord(config['storage'])) return object;
  const { ignition, systemd, storage } = config;
  const slim = {
    ignition,
    systemd: { units: entries(systemd['units'], 'name', [kubeletUnitName]) },
    storage: { files: entries(storage['files'], 'path', files) },
  };
  return { ...rest, spec: { config: slim } };
}

/** Reports of agents that are too large are not even kept. */
export function slimConfigMap(map: ConfigMap): ConfigMap {
  if (!isReportName(map.metadata.name ?? '')) return map;
  const texts = Object.entries(map.data ?? {}).flat();
  const isSmall = texts.reduce((sum, text) => sum + text.length, 0) <= maxReportBytes;
  const { binaryData, ...rest } = map as ConfigMap & { binaryData?: object };
  // That there was some is kept, so that the report is cleaned.
  const kept = binaryData === undefined ? rest : { ...rest, binaryData: {} };
  return isSmall ? kept : { ...kept, data: {} };
}

/** What requests are judged by, and no more: hosts can make as many as they like, with as much in them as the server takes. */
export function slimRequest({ metadata, spec, status, ...rest }: CertificateSigningRequest): CertificateSigningRequest {
  const { extra, request, ...asked } = spec;
  const token = extra?.[credentialIdKey];
  const isLong = request.length > maxRequestCharacters;
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([member]) => readOfRequests.has(member))),
    spec: { ...asked, request: isLong ? tooLong : request, ...(token && { extra: { [credentialIdKey]: token } }) },
    ...(status && { status: slimVerdict(status, spec.signerName) }),
  };
}

const readOfRequests = new Set(['name', 'uid', 'resourceVersion', 'creationTimestamp']);

/** Stands for every text that is refused for its length, so that readers see why and none of them is kept. */
const tooLong = '='.repeat(maxRequestCharacters + 1);

/** Which conditions there are; certificates are read of agents only. */
function slimVerdict(
  { conditions, certificate }: NonNullable<CertificateSigningRequest['status']>,
  signerName: string,
): NonNullable<CertificateSigningRequest['status']> {
  const isRead = certificate !== undefined && signerName === signer.apiClient;
  return {
    ...(conditions && { conditions: conditions.map(({ type, status }) => ({ type, status })) }),
    ...(isRead && { certificate }),
  };
}

const slimmers: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  [`${nodes.plural}.${nodes.group}`, slimNode],
  [`${configMaps.plural}.${configMaps.group}`, slimConfigMap],
  [`${certificateSigningRequests.plural}.${certificateSigningRequests.group}`, slimRequest],
  [`${machineConfigs.plural}.${machineConfigs.group}`, slimMachineConfig],
]);

function entries(list: unknown, member: string, wanted: readonly string[]): unknown {
  if (!Array.isArray(list)) return list;
  return list.filter((entry: unknown) => isRecord(entry) && wanted.includes(String(entry[member])));
}
