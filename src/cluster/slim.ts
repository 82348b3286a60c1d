import { isRecord } from '#base/fields.ts';
import { isReportName, maxReportBytes } from '#contract/agent-report.ts';
import { maxRequestCharacters } from '#contract/csr-request.ts';
import { secretName, signer } from '#contract/names.ts';
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
  type SecretObject,
  secrets,
} from '#kube/resources.ts';
import { type MachineConfig, machineConfigs } from '#kube/resources-openshift.ts';
import { kubeletUnitName, renderedPrefix } from './ignition.ts';

type ListWatchClient = Pick<Client, 'list' | 'watch'>;

/**
 * A client for informers that drops unused fields, to save memory: a rendered MachineConfig has hundreds of kilobytes, and a Node
 * lists its images.
 */
export function slimClient(client: ListWatchClient): ListWatchClient {
  return {
    async list<T extends KubeResource>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>> {
      const page = await client.list(resource, options);
      const slim = findSlimmer(resource);
      return slim === undefined ? page : { ...page, items: page.items.map(slim) };
    },
    watch<T extends KubeResource>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>> {
      const events = client.watch(resource, options);
      const slim = findSlimmer(resource);
      return slim === undefined ? events : slimEvents(events, slim);
    },
  };
}

async function* slimEvents<T extends KubeResource>(
  events: AsyncIterable<WatchEvent<T>>,
  slim: (object: T) => T,
): AsyncIterable<WatchEvent<T>> {
  for await (const event of events) {
    yield event.type === 'BOOKMARK' ? event : { ...event, object: slim(event.object) };
  }
}

function findSlimmer<T extends KubeResource>(resource: Resource<T>): ((object: T) => T) | undefined {
  const slim = slimmers.get(`${resource.plural}.${resource.group}`);
  return slim as ((object: T) => T) | undefined;
}

/** Drops images and volumes. */
export function slimNode(node: Node): Node {
  if (!isRecord(node.status)) return node;
  const kept = Object.entries(node.status).filter(([member]) => !unusedStatus.has(member));
  return { ...node, status: Object.fromEntries(kept) };
}

/** Drops the token that never expires: only whether there is one counts. */
export function slimSecret(secret: SecretObject): SecretObject {
  if (secret.metadata.name !== secretName.agentToken) return secret;
  const { data: _, ...rest } = secret;
  return rest;
}

const unusedStatus: ReadonlySet<string> = new Set(['images', 'volumesAttached', 'volumesInUse']);

const files: readonly string[] = Object.values(workerFile);

/** Keeps the parts of rendered worker configs that Windows nodes share, and no spec of other configs. */
export function slimMachineConfig(object: MachineConfig): MachineConfig {
  const { spec, ...rest } = object;
  if (!object.metadata.name?.startsWith(renderedPrefix)) return { ...rest, spec: {} };
  const config: unknown = spec?.config;
  // The reader reports what is wrong with any other shape.
  if (!isRecord(config) || !isRecord(config['systemd']) || !isRecord(config['storage'])) return object;
  const { ignition, passwd, systemd, storage } = config;
  const slim = {
    ignition,
    ...(passwd !== undefined && { passwd }),
    systemd: { units: entries(systemd['units'], 'name', [kubeletUnitName]) },
    storage: { files: entries(storage['files'], 'path', files) },
  };
  return { ...rest, spec: { config: slim } };
}

/** Drops the data of agent reports that are too large. */
export function slimConfigMap(map: ConfigMap): ConfigMap {
  if (!isReportName(map.metadata.name ?? '')) return map;
  const texts = Object.entries(map.data ?? {}).flat();
  const isSmall = texts.reduce((sum, text) => sum + text.length, 0) <= maxReportBytes;
  const { binaryData, ...rest } = map as ConfigMap & { binaryData?: object };
  // Keeps that it existed, so that the report gets cleaned.
  const kept = binaryData === undefined ? rest : { ...rest, binaryData: {} };
  return isSmall ? kept : { ...kept, data: {} };
}

/** Keeps only what decides about requests: hosts can create many, as large as the server allows. */
export function slimRequest({ metadata, spec, status, ...rest }: CertificateSigningRequest): CertificateSigningRequest {
  const { extra, request, ...asked } = spec;
  const token = extra?.[credentialIdKey];
  const isLong = request.length > maxRequestCharacters;
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([member]) => usedMetadata.has(member))),
    spec: { ...asked, request: isLong ? tooLong : request, ...(token && { extra: { [credentialIdKey]: token } }) },
    ...(status && { status: slimStatus(status, spec.signerName) }),
  };
}

const usedMetadata: ReadonlySet<string> = new Set(['name', 'uid', 'resourceVersion', 'creationTimestamp']);

/** Replaces every request that is too long, so that readers still see the reason. */
const tooLong = '='.repeat(maxRequestCharacters + 1);

/** Keeps types of conditions, and certificates of agents. */
function slimStatus(
  { conditions, certificate }: NonNullable<CertificateSigningRequest['status']>,
  signerName: string,
): NonNullable<CertificateSigningRequest['status']> {
  const isUsed = certificate !== undefined && signerName === signer.apiClient;
  return {
    ...(conditions && { conditions: conditions.map(({ type, status }) => ({ type, status })) }),
    ...(isUsed && { certificate }),
  };
}

const slimmers: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  [`${nodes.plural}.${nodes.group}`, slimNode],
  [`${configMaps.plural}.${configMaps.group}`, slimConfigMap],
  [`${certificateSigningRequests.plural}.${certificateSigningRequests.group}`, slimRequest],
  [`${machineConfigs.plural}.${machineConfigs.group}`, slimMachineConfig],
  [`${secrets.plural}.${secrets.group}`, slimSecret],
]);

function entries(list: unknown, member: string, wanted: readonly string[]): unknown {
  if (!Array.isArray(list)) return list;
  return list.filter((entry: unknown) => isRecord(entry) && wanted.includes(String(entry[member])));
}
