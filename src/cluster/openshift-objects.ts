import { AppError } from '#base/errors.ts';
import { configMapName, trustedCaKey } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { type ControllerConfig, kubeletCa, readControllerConfig } from './controller-config.ts';
import type { KubeletArguments, OperatorSettings } from './facts.ts';
import { findObject, objectsOfKind, type Wanted } from './find-objects.ts';
import { latestRenderedWorker, readKubeletArguments, readWorkerConfig, summariseMachineConfig } from './ignition.ts';
import type { WorkerConfig } from './ignition.ts';
import { readWorkerFiles } from './ignition-files.ts';
import { readApiServerUrl, readPlatform } from './infrastructure.ts';
import { clusterProxy } from './proxy.ts';
import { newestVersion } from './server-version.ts';

const config = { group: 'config.openshift.io', name: 'cluster' };
const machineConfig = { group: 'machineconfiguration.openshift.io' };

const wanted = {
  network: { ...config, kind: 'Network', resource: 'networks' },
  networkOperator: { group: 'operator.openshift.io', kind: 'Network', resource: 'networks', name: 'cluster' },
  infrastructure: { ...config, kind: 'Infrastructure', resource: 'infrastructures' },
  apiServer: { ...config, kind: 'APIServer', resource: 'apiservers' },
  proxy: { ...config, kind: 'Proxy', resource: 'proxies' },
  controllerConfig: {
    ...machineConfig,
    kind: 'ControllerConfig',
    resource: 'controllerconfigs',
    name: 'machine-config-controller',
  },
} satisfies Record<string, Wanted>;

type ProxySettings = Pick<OperatorSettings, 'namespace' | 'proxy'>;
const withoutProxy: ProxySettings = { namespace: '', proxy: {} };

/** Reads facts from the objects of an OpenShift cluster, each separately, so that one bad object hides no other. */
export class OpenshiftObjects {
  readonly #objects: readonly KubeObject[];
  readonly #settings: ProxySettings;

  constructor(objects: readonly KubeObject[], settings: ProxySettings = withoutProxy) {
    this.#objects = objects;
    this.#settings = settings;
  }

  network(): KubeObject {
    return findObject(this.#objects, wanted.network);
  }

  networkOperator(): KubeObject {
    return findObject(this.#objects, wanted.networkOperator);
  }

  apiServer(): KubeObject {
    return findObject(this.#objects, wanted.apiServer);
  }

  infrastructure(): KubeObject {
    return findObject(this.#objects, wanted.infrastructure);
  }

  platform(): string {
    return readPlatform(this.infrastructure());
  }

  apiServerUrl(): string {
    return readApiServerUrl(this.infrastructure());
  }

  workerConfig(): WorkerConfig {
    const all = objectsOfKind(this.#objects, { ...machineConfig, kind: 'MachineConfig' });
    return readWorkerConfig(latestRenderedWorker(all.map(summariseMachineConfig)).object);
  }

  kubeletArguments(): KubeletArguments {
    return readKubeletArguments(this.workerConfig());
  }

  workerFiles(): Record<string, string> {
    return readWorkerFiles(this.workerConfig(), this.kubeletArguments());
  }

  kubeletCa(): string {
    return kubeletCa(objectsOfKind(this.#objects, wanted.controllerConfig).map(readControllerConfig));
  }

  registryBundles(): ControllerConfig['registryBundles'] {
    return readControllerConfig(findObject(this.#objects, wanted.controllerConfig)).registryBundles;
  }

  /** Proxy variables by name: the object decides, also against the environment of the operator. */
  proxy(): Readonly<Record<string, string>> {
    const object = objectsOfKind(this.#objects, wanted.proxy).find(({ meta }) => meta.name === wanted.proxy.name);
    return object === undefined ? this.#settings.proxy : clusterProxy(object);
  }

  /** The CA bundle that the cluster injects for its proxy; undefined without a proxy. */
  trustedCa(): string | undefined {
    if (Object.keys(this.proxy()).length === 0) return undefined;
    const { namespace } = this.#settings;
    const place = { group: '', kind: 'ConfigMap', resource: 'configmaps', name: configMapName.trustedCa, namespace };
    const configMap = findObject(this.#objects, place);
    const bundle = configMap.fields.object('data').string(trustedCaKey) ?? '';
    // The cluster adds the CAs of its own image, so it never injects an empty bundle.
    if (bundle.trim() !== '') return bundle;
    throw new AppError('FIELD_INVALID', `${configMap.label}: data[${JSON.stringify(trustedCaKey)}] is missing`, {
      remedy:
        'Wait until the cluster network operator injects the bundle; check with `oc get clusteroperator network`.',
    });
  }

  /** The API server has at least this version, because no kubelet is newer than its API server. */
  newestKubeletVersion(): string {
    const nodes = objectsOfKind(this.#objects, { group: '', kind: 'Node' });
    const versions = nodes.map(node => node.fields.object('status').object('nodeInfo').string('kubeletVersion') ?? '');
    const newest = newestVersion(versions);
    if (newest !== undefined) return newest;
    throw new AppError('OBJECT_MISSING', 'no Node with a kubeletVersion is among the objects', {
      remedy: 'Set --server-version to the version of the API server, or add the output of: oc get nodes -o yaml',
    });
  }
}
