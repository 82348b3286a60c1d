import { toBase64 } from '../../src/base/bytes.ts';
import { systemClock } from '../../src/base/clock.ts';
import { AppError } from '../../src/base/errors.ts';
import { defaultNamespace, namespaceName, operatorName, secretKey, secretName } from '../../src/contract/names.ts';
import type { Connect } from '../../src/host/host.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { MemoryMetrics } from '../../src/kube/controller/metrics.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import * as openshift from '../../src/kube/resources-openshift.ts';
import type { PayloadSource } from '../../src/node/payload-source.ts';
import { type OperatorParts, runOperator } from '../../src/operator/operator.ts';
import type { Manifest } from '../../src/operator/rbac-manifests.ts';
import { type RunSettings, defaultSettings } from '../../src/operator/settings.ts';
import { accountToken } from './account-token.ts';
import { installDefinitions } from './cluster/openshift-crds.ts';
import { installedRights } from './install-manifests.ts';
import { openshiftCluster, type PlainObject } from './openshift-objects.ts';
import { recordedLog } from './recorded-log.ts';
import { checkCluster, logOutput } from './secret-check.ts';

/** A cluster for the operator, which gets exactly the rights of `deploy/openshift` or `deploy/kubernetes`. */
export interface OperatorScene extends AsyncDisposable {
  /** With all rights. */
  admin: Client;
  url: string;
  ca: string;
  namespace: string;
  /** A client of the operator's own account. */
  asOperator(): Promise<Client>;
  /** Runs an operator until the scene is over, or until it is stopped. */
  start(settings?: Partial<RunSettings>, parts?: Partial<OperatorParts>): Promise<RunningOperator>;
}

export interface RunningOperator {
  log: ReturnType<typeof recordedLog>;
  metrics: MemoryMetrics;
  /** Rejects when the operator fails. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

export interface SceneOptions {
  url: string;
  ca: string;
  kubeconfig: string;
  /** Objects of the cluster; a healthy OpenShift when absent, none for a plain cluster. */
  objects?: readonly PlainObject[];
  /** Whether the definitions and namespaces of OpenShift are there. */
  openshift?: boolean;
  /** Names of roles and bindings that are not applied. */
  without?: readonly string[];
}

export const operatorVersion = '11.0.0-abc1234';

export async function operatorScene(options: SceneOptions): Promise<OperatorScene> {
  const admin = createClient(loadKubeconfig(options.kubeconfig));
  const namespace = defaultNamespace;
  const isOpenshift = options.openshift ?? true;
  const running = new Set<RunningOperator>();
  await installDefinitions(admin, isOpenshift ? undefined : ['windowsinstances.windowsmachineconfig.openshift.io']);
  await makeNamespaces(admin, namespace, isOpenshift);
  for (const object of options.objects ?? (isOpenshift ? openshiftCluster() : [])) await apply(admin, object);
  if (isOpenshift) await makeSecrets(admin, namespace);
  const { without = [] } = options;
  const rights = installedRights(isOpenshift ? 'openshift' : 'kubernetes');
  for (const manifest of rights.filter(({ metadata }) => !without.includes(metadata.name)))
    await apply(admin, manifest);
  const asOperator = async () => {
    const token = await accountToken(admin, namespace, operatorName);
    return createClient(loadKubeconfig(tokenKubeconfig(options, token)));
  };
  return {
    admin,
    url: options.url,
    ca: options.ca,
    namespace,
    asOperator,
    start: async (settings = {}, parts = {}) => {
      const operator = await startOperator(await asOperator(), { namespace, ...settings }, parts);
      running.add(operator);
      return operator;
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of running) await each.stop();
      const output = [...running].flatMap(({ log }) => logOutput('log of the operator', log.lines));
      try {
        await checkCluster(admin, output);
      } finally {
        await admin.close();
      }
    },
  };
}

async function startOperator(
  client: Client,
  settings: Partial<RunSettings> & { namespace: string },
  parts: Partial<OperatorParts>,
): Promise<RunningOperator> {
  const stop = new AbortController();
  const log = recordedLog();
  const metrics = new MemoryMetrics();
  const { gitVersion } = await client.raw<{ gitVersion: string }>('GET', '/version');
  const ended = runOperator(
    {
      client,
      leaseClient: client,
      settings: {
        ...defaultSettings({ namespace: settings.namespace, version: operatorVersion }),
        kubeletVersion: gitVersion,
        ...settings,
      },
      connect: hostsUnreachable,
      dialTcp: async () => undefined,
      resolver: { addresses: async name => [name] },
      payload: noPayload,
      clock: systemClock,
      log: log.log,
      metrics,
      random: Math.random,
      ...parts,
    },
    stop.signal,
  );
  ended.catch(() => undefined);
  return {
    log,
    metrics,
    ended,
    stop: async () => {
      stop.abort();
      await ended.catch(() => undefined);
      await client.close();
    },
  };
}

const hostsUnreachable: Connect = ({ address }) =>
  Promise.reject(new AppError('HOST_UNREACHABLE', `${address} is unreachable`, { remedy: 'None: this is a test.' }));

const noPayload: PayloadSource = {
  agent: () => Promise.reject(new Error('there is no payload')),
  files: () => Promise.reject(new Error('there is no payload')),
};

async function makeNamespaces(admin: Client, own: string, isOpenshift: boolean): Promise<void> {
  const names = isOpenshift
    ? [own, namespaceName.machineApi, namespaceName.machineConfig, namespaceName.config]
    : [own];
  for (const name of names) await apply(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

async function makeSecrets(admin: Client, namespace: string): Promise<void> {
  const account = { metadata: { name: 'node-bootstrapper', namespace: namespaceName.machineConfig } };
  await admin.create(kinds.serviceAccounts, account);
  await makeSecret(admin, namespaceName.config, secretName.pullSecret, { [secretKey.dockerConfig]: '{"auths":{}}' });
  await makeSecret(admin, namespace, secretName.tls, { 'tls.crt': 'certificate', 'tls.key': 'planted-tls-key' });
}

export async function makeSecret(
  admin: Client,
  namespace: string,
  name: string,
  data: Record<string, string>,
): Promise<void> {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, toBase64(value)]));
  await admin.create(kinds.secrets, { metadata: { name, namespace }, data: encoded });
}

const resources: readonly Resource[] = [...Object.values(kinds), ...Object.values(openshift)].filter(
  (each): each is Resource => typeof each === 'object' && 'plural' in each,
);

/** Creates an object of a known kind, unless its namespace does not exist. */
export async function apply(admin: Client, object: PlainObject | Manifest): Promise<void> {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string };
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const resource = resources.find(each => each.kind === kind && each.group === group && each.version === version);
  if (resource === undefined) throw new Error(`unknown kind ${apiVersion} ${kind}`);
  const { status, ...rest } = object as unknown as KubeResource & { status?: unknown };
  try {
    const made = await admin.create(resource, rest);
    if (status === undefined || kind === 'Network' || kind === 'Namespace') return;
    const { name = '', namespace } = made.metadata;
    const options = { subresource: 'status', ...(namespace !== undefined && { namespace }) };
    // A patch has no conflict with controllers that change the new object at once.
    await admin.patch(resource, name, { type: 'merge', body: { status } }, options);
  } catch (error) {
    if (!isMissingNamespace(error)) throw error;
  }
}

function isMissingNamespace(error: unknown): boolean {
  return error instanceof Error && /namespaces "[^"]+" not found/.test(error.message);
}

export function tokenKubeconfig({ url, ca }: Pick<SceneOptions, 'url' | 'ca'>, token: string): string {
  return JSON.stringify({
    clusters: [{ name: 'here', cluster: { server: url, 'certificate-authority-data': toBase64(ca) } }],
    users: [{ name: 'me', user: { token } }],
    contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
    'current-context': 'here',
  });
}
