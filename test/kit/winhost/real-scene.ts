import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { toBase64 } from '../../../src/base/bytes.ts';
import { type WindowsInstance, windowsInstances } from '../../../src/cluster/windows-instance-resource.ts';
import {
  bootstrapperName,
  configMapName,
  injectTrustedCaLabel,
  namespaceName,
  nodeAnnotation,
  operatorName,
  secretKey,
  secretName,
  trustedCaKey,
} from '../../../src/contract/names.ts';
import type { Client } from '../../../src/kube/client.ts';
import { clusterRoleBindings, configMaps, pods, secrets } from '../../../src/kube/resources.ts';
import { TestCa } from '../certificates.ts';
import { type NameServer, startNameServer } from '../name-server.ts';
import {
  controllerConfig,
  infrastructure,
  kubeletUnit,
  linuxNode,
  machineConfig,
  openshiftCluster,
  type PlainObject,
} from '../openshift-objects.ts';
import { refusedRights } from '../single-rights.ts';
import { accountToken, accountUser } from '../account-token.ts';
import { makeSecret, operatorScene } from '../operator-scene.ts';
import { auditedRequests, auditFlags } from '../cluster/audit-log.ts';
import type { ClusterOptions } from '../cluster/cluster.ts';
import { type LabCluster, startLabCluster } from './cluster.ts';
import { administratorCa } from './furnished-host.ts';
import { buildKubelet } from './kubelet/build.ts';
import { WindowsLab } from './lab.ts';
import { type OtherOperators, startOtherOperators } from './real-doubles.ts';
import { type Deployment, OperatorProcess } from './real-operator.ts';
import { makePayload } from './real-payload.ts';
import { makeRelease, type NewRelease, type Release } from './releases.ts';

/** A whole cluster with everything but hosts: API server, operator as its own process, name server, other operators. */
export interface RealScene extends AsyncDisposable {
  lab: WindowsLab;
  cluster: LabCluster;
  /** With all rights. */
  admin: Client;
  namespace: string;
  version: string;
  names: NameServer;
  otherOperators: OtherOperators;
  /** SHA-256 of every program of the payload. */
  payload: Readonly<Record<string, string>>;
  /** The text of the operator's private key, which all hosts accept. */
  privateKey: string;
  /** With which the operator shows itself to the API server. */
  operatorToken: string;
  /** Starts the operator; the name of the run is that of its log. */
  startOperator(run: string, release?: Release): Promise<OperatorProcess>;
  /** The one of `version` and `payload`, which is started unless another is given. */
  release: Release;
  makeRelease(wanted: NewRelease): Promise<Release>;
  instances(): Promise<WindowsInstance[]>;
  /** Waits until exactly these instances are ready. */
  ready(names: readonly string[], operator: OperatorProcess): Promise<void>;
  givePrivateKey(): Promise<void>;
  /** Writes the ConfigMap windows-instances. */
  list(addresses: readonly string[]): Promise<void>;
}

/** Parts of the cluster that not every test has. */
export type RealSceneOptions = Pick<ClusterOptions, 'controllers' | 'controllerManagerFlags'>;

export const platform = 'VSphere';
const version = '11.0.0-abc1234';
const podName = `${operatorName}-7d9c5b8f6c-x2k4q`;
const readyMs = 240_000;

export async function startRealScene(agent: string, options: RealSceneOptions = {}): Promise<RealScene> {
  await using stack = new AsyncDisposableStack();
  const kubelet = await buildKubelet();
  const lab = stack.use(await WindowsLab.start());
  const clusterOptions = { ...options, admissionPlugins: ['NodeRestriction'], apiServerFlags: auditFlags };
  const cluster = stack.use(await startLabCluster(lab, clusterOptions));
  const names = stack.use(await startNameServer({}, { host: lab.address, port: 53 }));
  const { url, ca, kubeconfigText: kubeconfig } = cluster.cluster;
  const objects = clusterObjects(cluster);
  const { admin, namespace } = stack.use(await operatorScene({ url, ca, kubeconfig, objects }));
  await allowBootstrap(admin);
  await giveLogin(admin);
  await giveTrustedCa(admin, namespace);
  await admin.create(pods, { metadata: { name: podName, namespace }, spec: { containers: [podContainer] } });
  const program = (name: string) => join(lab.parts.doubles, 'lab', 'programs', name);
  const payloadFolder = join(lab.folder, 'payload');
  const doubles = { kubelet, service: program('service.exe'), logRunner: program('kube-log-runner.exe') };
  const payload = await makePayload(payloadFolder, { agent, ...doubles });
  const otherOperators = stack.use(startOtherOperators(cluster.client));
  const privateKey = await readFile(lab.privateKeyFile, 'utf8');
  const operatorToken = await accountToken(admin, namespace, operatorName);
  const deployment: Omit<Deployment, 'version' | 'payload'> = {
    folder: join(lab.folder, 'operator'),
    namespace,
    podName,
    url,
    ca,
    token: operatorToken,
    kubeletVersion: cluster.cluster.version,
    nameServer: lab.address,
  };
  const release: Release = { version, payload: payloadFolder, hashes: payload };
  const instances = async () => (await admin.list(windowsInstances, { namespace })).items;
  // Ends first, but for operators.
  stack.defer(() => expectNoRefusal(cluster, namespace));
  const all = stack.move();
  return {
    lab,
    cluster,
    admin,
    namespace,
    version,
    names,
    otherOperators,
    payload,
    privateKey,
    operatorToken,
    release,
    makeRelease: wanted => makeRelease(join(lab.folder, `release-${wanted.version}`), doubles, wanted),
    startOperator: async (run, { version, payload } = release) =>
      all.use(await OperatorProcess.start({ ...deployment, version, payload }, run)),
    instances,
    ready: (wanted, operator) => untilReady(instances, wanted, operator),
    givePrivateKey: () => makeSecret(admin, namespace, secretName.privateKey, { [secretKey.privateKey]: privateKey }),
    list: async addresses => {
      const data = Object.fromEntries(addresses.map(address => [address, 'username=Administrator']));
      await admin.create(configMaps, { metadata: { name: configMapName.instances, namespace }, data });
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The operator has exactly the rights of the manifests, and needs no other. */
function expectNoRefusal({ cluster }: LabCluster, namespace: string): void {
  const refused = refusedRights(auditedRequests(cluster, accountUser(namespace, operatorName)));
  if (refused.length > 0) throw new Error(`the operator lacks rights:\n${refused.join('\n')}`);
}

/** Secrets of the cluster that reach hosts, and may be seen nowhere else. */
export const planted = { tlsKey: 'planted-tls-key', login: 'puller:planted-registry-password' } as const;
export const serviceCidr = '172.30.0.0/16';
/** Hosts have to trust it, for which each of them is rebooted. */
export const registryCa = new TestCa('registry').cert;
const podContainer = { name: 'manager', image: 'operator' };

function clusterObjects({ url, cluster }: LabCluster): PlainObject[] {
  const node = linuxNode('east-master-0', 'v1.36.4');
  // Left there by versions of long ago.
  const annotations = { [nodeAnnotation.pubKeyHash]: 'of-a-linux-node' };
  const registry = { file: 'mirror.example.com..5000', data: toBase64(registryCa) };
  return [
    ...openshiftCluster({
      infrastructure: infrastructure(platform, { apiServerInternalURI: url }),
      machineConfig: machineConfig({ unit: kubeletUnit(['--cloud-provider=external']) }),
      controllerConfig: controllerConfig({
        kubeAPIServerServingCAData: toBase64(cluster.ca),
        imageRegistryBundleUserData: [registry],
        imageRegistryBundleData: [],
      }),
      node: { ...node, metadata: { ...(node['metadata'] as object), annotations } },
    }),
    {
      apiVersion: 'config.openshift.io/v1',
      kind: 'ImageDigestMirrorSet',
      metadata: { name: 'mirrors' },
      spec: { imageDigestMirrors: [{ source: 'quay.io/windows', mirrors: ['mirror.example.com:5000/windows'] }] },
    },
  ];
}

/** What OpenShift's machine config operator brings along. */
async function allowBootstrap(admin: Client): Promise<void> {
  await admin.create(clusterRoleBindings, {
    metadata: { name: 'node-bootstrapper' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ kind: 'ServiceAccount', name: bootstrapperName, namespace: namespaceName.machineConfig }],
  });
}

/** Of the mirror, in the pull secret of the cluster. */
async function giveLogin(admin: Client): Promise<void> {
  const auths = { 'mirror.example.com:5000': { auth: toBase64(planted.login) } };
  const data = { [secretKey.dockerConfig]: toBase64(JSON.stringify({ auths })) };
  const { config: namespace } = namespaceName;
  await admin.patch(secrets, secretName.pullSecret, { type: 'merge', body: { data } }, { namespace });
}

/** What OpenShift's network operator writes into a ConfigMap with this label. */
async function giveTrustedCa(admin: Client, namespace: string): Promise<void> {
  const metadata = { name: configMapName.trustedCa, namespace, labels: { [injectTrustedCaLabel]: 'true' } };
  await admin.create(configMaps, { metadata, data: { [trustedCaKey]: administratorCa } });
}

async function untilReady(
  instances: () => Promise<WindowsInstance[]>,
  wanted: readonly string[],
  operator: OperatorProcess,
): Promise<void> {
  for (const endMs = performance.now() + readyMs; ; await delay(200)) {
    const seen = await instances();
    const ready = seen.filter(({ status }) => status?.phase === 'Ready').map(({ metadata }) => metadata.name);
    if (ready.length === seen.length && wanted.every(name => ready.includes(name))) return;
    if (performance.now() > endMs) {
      const lines = seen.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status)}`);
      throw new Error(`not ready in time:\n${lines.join('\n')}\n${operator.log}`);
    }
  }
}
