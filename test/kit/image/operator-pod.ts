import { operatorName } from '../../../src/contract/names.ts';
import { operatorDeployment, payloadKeySecret } from '../../../src/install/deployment.ts';
import { isAlreadyExists, unless } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../../src/kube/resource.ts';
import * as kinds from '../../../src/kube/resources.ts';
import { operatorPermissions } from '../../../src/operator/permissions.ts';
import { rbacManifests } from '../../../src/operator/rbac-manifests.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { accountToken } from '../account-token.ts';
import { type ContainerSpec, Pod } from './pod.ts';
import type { ImageScene } from './scene.ts';

/** OpenShift gives each namespace numbers of users; an image cannot know them. */
export const podUser = 1_000_770_000;
const podName = 'operator-1';

export interface OperatorPodOptions {
  /** Replaces parts of the container of the Deployment. */
  container?: Partial<ContainerSpec>;
  /** Whether the operator gets the key that has signed the payload; by default it does. */
  usesPayloadKey?: boolean;
  /** Of its service account. */
  token?: string;
}

/** Starts the image as the Deployment says, with the payload key in the Secret where a site has it. */
export async function startOperatorPod(
  scene: ImageScene,
  sandbox: Sandbox,
  { container = {}, usesPayloadKey = true, token = 'none' }: OperatorPodOptions = {},
): Promise<Pod> {
  const { image, rootfs, tools, key } = scene;
  const [host] = sandbox.hosts;
  if (host === undefined) throw new Error('the sandbox has no host');
  const { namespace } = sandbox;
  return Pod.start({
    container: { ...podSpec(namespace, image, usesPayloadKey).containers[0], ...container },
    imageEnvironment: (await scene.config()).Env,
    rootfs,
    parent: tools.folder,
    userId: podUser,
    environment: { WATCH_NAMESPACE: namespace, POD_NAME: podName, OPERATOR_NAME: operatorName },
    secrets: { 'payload-key': { [payloadKeySecret.key]: key.publicPem } },
    serviceAccount: { token, 'ca.crt': sandbox.ca, namespace },
    apiServer: sandbox.url,
    host,
  });
}

interface PodSpec {
  containers: [ContainerSpec];
}

function podSpec(namespace: string, image: string, usesPayloadKey: boolean): PodSpec {
  const made = operatorDeployment({ namespace, image, platform: 'openshift', usesPayloadKey });
  return (made as unknown as { spec: { template: { spec: PodSpec } } }).spec.template.spec;
}

/** Creates the rights and the Pod object, which owns the Lease, and gives a token of the operator's service account. */
export async function registerOperator(admin: Client, { image }: ImageScene, namespace: string): Promise<string> {
  for (const manifest of rbacManifests(operatorPermissions, namespace)) {
    const resource = byKind.get(manifest.kind);
    if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
    await admin.create(resource, manifest as KubeResource).catch(unless(isAlreadyExists));
  }
  const pod = { metadata: { name: podName, namespace }, spec: podSpec(namespace, image, true) };
  await admin.create(kinds.pods, pod as unknown as kinds.Pod);
  return accountToken(admin, namespace, operatorName);
}

const byKind = new Map(
  Object.values(kinds)
    .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
    .map(resource => [resource.kind, resource]),
);
