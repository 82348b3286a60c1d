import type { ClusterFacts, OperatorSettings } from '#cluster/facts.ts';
import { AppError } from '#base/errors.ts';
import { nodeAnnotation, nodeLabel, proxyVariables, serviceName } from '#contract/names.ts';
import { dir, file, splitPath } from '#contract/paths.ts';
import {
  type HostVariable,
  type HostVariableSource,
  type Preparation,
  type Service,
  type ServicesManifest,
  service,
} from '#contract/services/manifest.ts';
import { optionalProvider } from './cloud.ts';
import { acceptsCloudConfig, kubeProxyFeatureGates } from './kubelet-versions.ts';
import { logRunnerCommand } from './log-rotation.ts';
import { isRotating, overlayLogFlags } from './service-logs.ts';

export type ServicesFacts = Pick<
  ClusterFacts,
  'platform' | 'apiServerUrl' | 'network' | 'kubeletArguments' | 'proxy' | 'kubeletVersion'
> &
  Partial<Pick<ClusterFacts, 'workerFiles' | 'optionalPrograms'>>;
export type ServicesSettings = Pick<OperatorSettings, 'debug' | 'logRotation'>;

const nodeNameVariable = { name: 'NODE_NAME', jsonPath: '{.metadata.name}' };

/** The content of the services ConfigMap, the same for all nodes. */
export function servicesManifest(facts: ServicesFacts, settings: ServicesSettings): ServicesManifest {
  if (facts.apiServerUrl === '') {
    throw new AppError(
      'API_SERVER_URL_MISSING',
      'Infrastructure cluster: APIServerInternalURL is not set in infrastructure',
      {
        remedy: 'Set status.apiServerInternalURI of the Infrastructure object "cluster".',
      },
    );
  }
  return {
    services: [
      containerdService(settings),
      kubeletService(facts, settings),
      exporterService(settings),
      hybridOverlayService(facts, settings),
      csiProxyService(settings),
      kubeProxyService(facts, settings),
      ...(hasCloudNodeManager(facts.platform) ? [cloudNodeManagerService()] : []),
    ],
    files: [],
    environment: { ...facts.proxy },
    watchedEnvironment: [...proxyVariables],
  };
}

type Debug = Pick<OperatorSettings, 'debug'>;

function containerdService({ debug }: Debug): Service {
  return service({
    name: serviceName.containerd,
    command: words(
      file.containerd,
      `--config ${file.containerdConfig}`,
      `--log-file ${file.containerdLog}`,
      '--run-service',
      `--log-level ${debug ? 'debug' : 'info'}`,
    ),
    prepare: [{ kind: 'defender-exclusion', arguments: { path: file.containerd } }],
    bootstrap: true,
    priority: 0,
  });
}

function kubeletService(facts: ServicesFacts, settings: ServicesSettings): Service {
  const hostname = hostnameSources.get(facts.platform);
  const { 'cloud-provider': cloudProvider, 'cloud-config': cloudConfig } = facts.kubeletArguments;
  const variables: HostVariable[] = [{ name: 'NODE_IP', source: 'nodeIP' }];
  if (hostname !== undefined) variables.unshift({ name: 'HOSTNAME_OVERRIDE', source: hostname });
  return service({
    name: serviceName.kubelet,
    command: words(
      logRunnerCommand(file.kubelet, file.kubeletLog, settings.logRotation),
      `--config=${file.kubeletConfig}`,
      `--bootstrap-kubeconfig=${file.bootstrapKubeconfig}`,
      `--kubeconfig=${file.kubeconfig}`,
      `--cert-dir=${dir.kubeletPki}`,
      '--windows-service',
      `--node-labels=${nodeLabel.osId}=Windows`,
      '--windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS',
      verbosity(settings),
      cloudProvider !== undefined && `--cloud-provider=${cloudProvider}`,
      cloudConfig !== undefined &&
        acceptsCloudConfig(facts.kubeletVersion) &&
        `--cloud-config=${dir.k}\\${linuxBaseName(cloudConfig)}`,
      hostname !== undefined && '--hostname-override=HOSTNAME_OVERRIDE',
      '--node-ip=NODE_IP',
      (facts.platform === 'AWS' || optionalProvider(facts) !== undefined) &&
        `--image-credential-provider-bin-dir=${dir.k} --image-credential-provider-config=${file.credentialProviderConfig}`,
    ),
    hostVariables: variables,
    prepare: metadataRoute(facts),
    dependencies: [serviceName.containerd],
    bootstrap: true,
    priority: 1,
  });
}

/** Kubelet and pods need the metadata service, whose route a reboot and the overlay network remove. */
function metadataRoute({ platform }: Pick<ServicesFacts, 'platform'>): Preparation[] {
  return platform === 'AWS' ? [{ kind: 'host-route', arguments: { address: '169.254.169.254' } }] : [];
}

/** Whether cloud-node-manager runs on hosts of the platform. */
export function hasCloudNodeManager(platform: string): boolean {
  return platform === 'Azure';
}

/** Source of the kubelet's `--hostname-override` on this platform; empty for the computer name. */
export function nameSourceOf(platform: string): { nameSource?: HostVariableSource } {
  const nameSource = hostnameSources.get(platform);
  return nameSource === undefined ? {} : { nameSource };
}

/** Platforms where the kubelet must use the name that the cloud gave to the machine. */
const hostnameSources: ReadonlyMap<string, HostVariableSource> = new Map([
  ['AWS', 'awsLocalHostname'],
  ['GCP', 'gcpHostname'],
  ['VSphere', 'fqdn'],
]);

export function exporterService({ debug }: Debug): Service {
  return service({
    name: serviceName.exporter,
    command: words(
      file.exporter,
      '--collectors.enabled cpu,logical_disk,net,os,service,system,container,memory,cpu_info',
      `--web.config.file ${file.exporterWebConfig}`,
      `--log.level ${debug ? 'debug' : 'info'}`,
      `--log.file ${file.exporterLog}`,
    ),
    priority: 2,
  });
}

export function hybridOverlayService(
  facts: Pick<ServicesFacts, 'apiServerUrl' | 'network'>,
  { debug, logRotation }: ServicesSettings,
): Service {
  return service({
    name: serviceName.hybridOverlay,
    command: words(
      file.hybridOverlay,
      `--node ${nodeNameVariable.name}`,
      `--bootstrap-kubeconfig=${file.kubeconfig}`,
      `--cert-dir=${dir.cniConfig}`,
      '--cert-duration=24h',
      '--windows-service',
      `--logfile ${file.hybridOverlayLog}`,
      // It does not read the server from its kubeconfig.
      `--k8s-apiserver=${facts.apiServerUrl}`,
      `--k8s-cacert ${file.bootstrapCa}`,
      facts.network.vxlanPort !== '' && `--hybrid-overlay-vxlan-port ${facts.network.vxlanPort}`,
      debug && '--loglevel 5',
      ...overlayLogFlags(logRotation),
    ),
    nodeVariables: [nodeNameVariable],
    dependencies: [serviceName.kubelet],
    priority: 2,
  });
}

/** Its own limit would empty the log instead of keeping old files, so kube-log-runner rotates it. */
function csiProxyService(settings: ServicesSettings): Service {
  const { logRotation } = settings;
  return service({
    name: serviceName.csiProxy,
    command: words(
      ...(isRotating(logRotation)
        ? [logRunnerCommand(file.csiProxy, file.csiProxyLog, logRotation)]
        : [file.csiProxy, `-log_file=${file.csiProxyLog}`, '-logtostderr=false']),
      '-windows-service',
      verbosity(settings),
    ),
    priority: 2,
  });
}

function kubeProxyService(facts: ServicesFacts, settings: ServicesSettings): Service {
  const featureGates = kubeProxyFeatureGates(facts.kubeletVersion).join(',');
  return service({
    name: serviceName.kubeProxy,
    command: words(
      logRunnerCommand(file.kubeProxy, file.kubeProxyLog, settings.logRotation),
      `--config ${file.kubeProxyConfig}`,
      '--windows-service',
    ),
    prepare: [
      {
        kind: 'cni-and-kube-proxy',
        arguments: {
          serviceCIDR: facts.network.serviceCidr,
          subnetAnnotation: nodeAnnotation.hybridOverlaySubnet,
          verbosity: settings.debug ? '4' : '0',
          ...(featureGates !== '' && { featureGates }),
        },
      },
      // The network of the hybrid overlay takes over the adapter, and with it the route.
      ...metadataRoute(facts),
    ],
    dependencies: [serviceName.hybridOverlay],
    priority: 3,
  });
}

/** It writes provider fields of the Node, which the kubelet is not allowed to, so it has its own identity. */
function cloudNodeManagerService(): Service {
  return service({
    name: serviceName.cloudNodeManager,
    command: words(
      file.azureCloudNodeManager,
      '--windows-service',
      `--node-name=${nodeNameVariable.name}`,
      '--wait-routes=false',
      `--kubeconfig=${file.cloudNodeKubeconfig}`,
    ),
    nodeVariables: [nodeNameVariable],
    priority: 3,
  });
}

function verbosity({ debug }: Debug): string {
  return debug ? '--v=4' : '--v=2';
}

function linuxBaseName(path: string): string {
  return splitPath(path.replaceAll('/', '\\')).name;
}

function words(...parts: (string | false)[]): string {
  return parts.filter(part => part !== false).join(' ');
}
