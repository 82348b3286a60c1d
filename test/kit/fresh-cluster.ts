import { toBase64 } from '../../src/base/bytes.ts';
import { systemClock } from '../../src/base/clock.ts';
import {
  bootstrapperName,
  configMapName,
  defaultNamespace,
  namespaceName,
  operatorName,
  secretKey,
  secretName,
} from '../../src/contract/names.ts';
import type { Connect } from '../../src/host/host.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { connect } from '../../src/host/ssh/connect.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, pods } from '../../src/kube/resources.ts';
import type { Manifest } from '../../src/operator/rbac-manifests.ts';
import { scaledClock } from '../../src/sandbox/machines/clocks.ts';
import { Fleet } from '../../src/sandbox/machines/fleet.ts';
import { ContentStore } from '../../src/sandbox/machines/host/content-store.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import type { ClusterKind } from '../../src/sandbox/machines/initial-objects/objects.ts';
import { routedConnect } from '../../src/sandbox/machines/routes.ts';
import { auditFlags } from './cluster/audit-log.ts';
import { type Cluster, startCluster } from './cluster/cluster.ts';
import { allDefinitions, installDefinitions } from './cluster/openshift-crds.ts';
import { applyManifests, installManifests } from './install-manifests.ts';
import { clusterInfo, dnsService, kubeadmConfig } from './kubeadm-objects.ts';
import { newPrivateKey } from './new-private-key.ts';
import {
  controllerConfig,
  infrastructure,
  kubeletUnit,
  linuxNode,
  machineConfig,
  openshiftCluster,
  type PlainObject,
  proxyConfig,
} from './openshift-objects.ts';
import { apply, makeSecret } from './operator-scene.ts';
import { startServiceCa } from './service-ca.ts';
import { startOtherOperators } from './winhost/real-doubles.ts';

/** A real cluster as its installer leaves it, with simulated hosts beside it. Its API server writes an audit log. */
export interface FreshCluster extends AsyncDisposable {
  kind: ClusterKind;
  platform: string;
  cluster: Cluster;
  /** With all rights. */
  admin: Client;
  /** Where the manifests put the operator. */
  namespace: string;
  fleet: Fleet;
  /** To the simulated hosts. */
  connect: Connect;
  /** Applies `deploy/KIND`; gives the manifests whose kinds the API server does not serve. */
  install(change?: (manifests: Manifest[]) => Manifest[]): Promise<Manifest[]>;
  /** A host that accepts the private key of `givePrivateKey`; its user is Administrator unless another is given. */
  addHost(name: string, user?: string): Promise<SimulatedHost>;
  givePrivateKey(): Promise<void>;
  /** Writes the ConfigMap windows-instances. */
  list(hosts: readonly SimulatedHost[]): Promise<void>;
  /** Errors of the other operators except conflicts. */
  otherErrors: readonly string[];
}

const speed = 50;
const ownDefinition = 'windowsinstances.windowsmachineconfig.openshift.io';

/** Its platform is None unless another is given. */
export async function startFreshCluster(kind: ClusterKind, platform = 'None'): Promise<FreshCluster> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startCluster({ admissionPlugins: ['NodeRestriction'], apiServerFlags: auditFlags }));
  const admin = createClient(cluster.adminConfig);
  stack.defer(() => admin.close());
  await (kind === 'openshift' ? makeOpenshift(admin, cluster, platform) : makeKubernetes(admin, cluster));
  const store = await ContentStore.open();
  stack.defer(() => store.close());
  const delays = scaledClock(systemClock, speed);
  const fleet = new Fleet({ store, clock: systemClock, delays, agentVersion: 'unknown', onChange: () => undefined });
  stack.defer(() => fleet.stop());
  const others = stack.use(startOtherOperators(admin));
  const serviceCa = kind === 'openshift' ? stack.use(startServiceCa(admin, defaultNamespace)) : { errors: [] };
  const privateKey = newPrivateKey();
  const namespace = defaultNamespace;
  const all = stack.move();
  return {
    kind,
    platform,
    cluster,
    admin,
    namespace,
    fleet,
    connect: routedConnect(fleet.findRoute, connect, systemClock),
    install: (change = manifests => manifests) => applyManifests(admin, change(installManifests(kind))),
    addHost: async (name, user = 'Administrator') => {
      const authorizedKeys = [parsePrivateKey(privateKey).publicKey];
      const host = fleet.add({ name, user, authorizedKeys });
      await host.start();
      return host;
    },
    givePrivateKey: () => makeSecret(admin, namespace, secretName.privateKey, { [secretKey.privateKey]: privateKey }),
    list: async hosts => {
      const data = Object.fromEntries(hosts.map(({ spec }) => [spec.address, `username=${spec.user}`]));
      const metadata = { name: configMapName.instances, namespace };
      const found = await admin.find(configMaps, metadata.name, { namespace });
      if (found === undefined) await admin.create(configMaps, { metadata, data });
      else await admin.replace(configMaps, { ...found, data });
    },
    get otherErrors() {
      return [...others.errors, ...serviceCa.errors];
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The pod that the Deployment makes. */
export async function makePod(admin: Client, { namespace }: { namespace: string }): Promise<string> {
  const spec = { serviceAccountName: operatorName, containers: [{ name: 'manager', image: 'operator' }] };
  const metadata = { generateName: `${operatorName}-7d9c5b8f6c-`, namespace };
  return (await admin.create(pods, { metadata, spec })).metadata.name ?? '';
}

/** Namespaces, configs, accounts and Secrets that every OpenShift has. */
async function makeOpenshift(admin: Client, { url, ca }: Cluster, platform: string): Promise<void> {
  const theirs = allDefinitions().flatMap(({ metadata }) => metadata.name ?? []);
  await installDefinitions(
    admin,
    theirs.filter(name => name !== ownDefinition),
  );
  const { clusterApi: _, ...places } = namespaceName;
  for (const name of [...Object.values(places), 'openshift-monitoring']) await apply(admin, namespaceObject(name));
  const objects = openshiftCluster({
    infrastructure: infrastructure(platform, { apiServerInternalURI: url }),
    machineConfig: machineConfig({ unit: kubeletUnit(platform === 'Azure' ? ['--cloud-provider=external'] : []) }),
    controllerConfig: controllerConfig({
      kubeAPIServerServingCAData: toBase64(ca),
      imageRegistryBundleUserData: [],
      imageRegistryBundleData: [],
    }),
  });
  for (const object of [...objects, proxyConfig()]) await apply(admin, object);
  const { machineConfig: namespace, config } = namespaceName;
  await apply(admin, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: bootstrapperName, namespace },
  });
  await apply(admin, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system-bootstrap-node-bootstrapper' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ kind: 'ServiceAccount', name: bootstrapperName, namespace }],
  });
  await makeSecret(admin, config, secretName.pullSecret, { [secretKey.dockerConfig]: '{"auths":{}}' });
}

/** What kubeadm leaves behind. */
async function makeKubernetes(admin: Client, { url, ca, version }: Cluster): Promise<void> {
  const objects: PlainObject[] = [
    clusterInfo(url, text => text.replace(toBase64('CA'), toBase64(ca))),
    kubeadmConfig('10.96.0.0/16'),
    dnsService(['10.96.0.10']),
    linuxNode('control-plane-0', version),
  ];
  for (const object of objects) await apply(admin, object);
}

function namespaceObject(name: string): PlainObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
