import { readFile } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { namespaceName, prefix } from '#contract/names.ts';
import { defaultImage } from '#install/image-reference.ts';
import { installManifests } from '#install/manifests.ts';
import type { PlatformKind } from '#install/namespace.ts';
import type { KubeResource } from '#kube/resource.ts';
import { readPublicKey } from '#payload/signature.ts';
import { systemErrorReason } from '../system-error.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { InstallOptions } from './options.ts';

/** On a namespace that did not exist before: only such a one is deleted by `wmco uninstall`. */
export const createdBy = { key: `${prefix}/created-by`, value: 'wmco-install' } as const;

export interface Wanted {
  objects: KubeResource[];
  image: string;
  /** Left out, because their namespaces do not exist. */
  left: KubeResource[];
}

/** The objects of an installation: those of `deploy`, for this cluster; without facts for any cluster of the platform. */
export async function wantedObjects(
  options: InstallOptions,
  version: string,
  facts: ClusterFacts | undefined,
): Promise<Wanted> {
  const { namespace } = options;
  const key = options.payloadKey === undefined ? undefined : await readKey(options.payloadKey);
  const kind = options.platform ?? facts?.platform ?? 'kubernetes';
  const image = options.image ?? defaultImage(version);
  const replicas = options.replicas ?? runningReplicas(facts?.deployment);
  const all: KubeResource[] = installManifests({
    kind,
    namespace,
    image,
    ...(replicas !== undefined && { replicas }),
    ...(key !== undefined && { payloadKey: key }),
    usesPayloadKey: key !== undefined || usesPayloadKey(facts?.deployment),
    ...(facts && {
      hasAdmissionPolicies: facts.hasAdmissionPolicies,
      hasMonitoring: facts.hasMonitoring,
      hasClusterApi: hasClusterApi(kind, facts),
    }),
  });
  const isLeft = ({ metadata }: KubeResource) =>
    facts !== undefined &&
    metadata.namespace !== undefined &&
    metadata.namespace !== namespace &&
    !facts.namespaces.has(metadata.namespace);
  return {
    objects: all.filter(each => !isLeft(each)).map(each => (facts === undefined ? each : withCreator(each, facts))),
    left: all.filter(isLeft),
    image,
  };
}

/** Undefined for none: a Deployment that is scaled to zero must run again. */
function runningReplicas(deployment: ClusterFacts['deployment']): number | undefined {
  return deployment?.spec?.replicas || undefined;
}

function hasClusterApi(kind: PlatformKind, { namespaces }: ClusterFacts): boolean {
  return kind === 'openshift' && namespaces.has(namespaceName.clusterApi);
}

/** An upgrade without the flag must not fall back to the key of the release. */
function usesPayloadKey(deployment: ClusterFacts['deployment']): boolean {
  const args = (deployment?.spec?.template?.spec?.containers ?? []).flatMap(container => container.args ?? []);
  return args.some(arg => arg.startsWith('--payload-key='));
}

function withCreator(object: KubeResource, { namespace }: ClusterFacts): KubeResource {
  const isMarked = namespace?.metadata.annotations?.[createdBy.key] === createdBy.value;
  if (object.kind !== 'Namespace' || (namespace !== undefined && !isMarked)) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { [createdBy.key]: createdBy.value } } };
}

async function readKey(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new AppError('INPUT_UNREADABLE', `payload key ${path} cannot be read (${systemErrorReason(cause)})`, {
      remedy: 'Set --payload-key to the public key of your payload.',
      cause,
    });
  });
  // Printed from the key: the file may have more in it than the key.
  return readPublicKey(text, path).export({ type: 'spki', format: 'pem' });
}
