import { nodeAnnotation, nodeLabel, proxyVariables, serviceName } from '#contract/names.ts';
import { dir, file } from '#contract/paths.ts';

export interface GoServiceFacts {
  /** apiServerInternalURI of the cluster. */
  apiServerUrl: string;
  /** Proxy variables of the cluster; none by default. */
  environment?: Readonly<Record<string, string>>;
}

/** A service as the Go operator writes it into its ConfigMap. */
interface GoService {
  name: string;
  path: string;
  nodeVariablesInCommand?: readonly GoVariable[];
  powershellPreScripts?: readonly { variableName?: string; path: string; NodeArgs: readonly GoVariable[] | null }[];
  dependencies?: readonly string[];
  bootstrap: boolean;
  priority: number;
}

interface GoVariable {
  name: string;
  nodeObjectJsonPath: string;
}

const nodeName: GoVariable = { name: 'NODE_NAME', nodeObjectJsonPath: '{.metadata.name}' };

/** Data of the ConfigMap `windows-services-<version>` of the Go operator: scripts instead of values that the agent finds. */
export function goServicesData({ apiServerUrl, environment = {} }: GoServiceFacts): Record<string, string> {
  return {
    services: JSON.stringify(goServices(apiServerUrl)),
    files: '[]',
    ...(Object.keys(environment).length > 0 && { environmentVars: JSON.stringify(environment) }),
    watchedEnvironmentVars: JSON.stringify(proxyVariables),
  };
}

/** Command line, dependencies and name of each service on a host. */
export function goHostServices(
  apiServerUrl: string,
  { node, address }: { node: string; address: string },
): { name: string; command: string; dependencies: readonly string[] }[] {
  return goServices(apiServerUrl).map(({ name, path, dependencies = [] }) => ({
    name,
    command: path.replaceAll('NODE_IP', address).replaceAll('NODE_NAME', node),
    dependencies,
  }));
}

function goServices(apiServerUrl: string): GoService[] {
  return [
    {
      name: serviceName.containerd,
      path: `${file.containerd} --config ${file.containerdConfig} --log-file ${file.containerdLog} --run-service --log-level info`,
      powershellPreScripts: [
        { path: `${dir.temp}\\windows-defender-exclusion.ps1 -BinPath ${file.containerd}`, NodeArgs: null },
      ],
      bootstrap: true,
      priority: 0,
    },
    {
      name: serviceName.kubelet,
      path: kubeletCommand,
      powershellPreScripts: [{ variableName: 'NODE_IP', path: addressScript, NodeArgs: null }],
      dependencies: [serviceName.containerd],
      bootstrap: true,
      priority: 1,
    },
    {
      name: serviceName.exporter,
      path:
        `${file.exporter} --collectors.enabled cpu,logical_disk,net,os,service,system,container,memory,cpu_info ` +
        `--web.config.file ${file.exporterWebConfig} --log.level info --log.file ${file.exporterLog}`,
      bootstrap: false,
      priority: 2,
    },
    {
      name: serviceName.hybridOverlay,
      path:
        `${file.hybridOverlay} --node NODE_NAME --bootstrap-kubeconfig=${file.kubeconfig} --cert-dir=${dir.cniConfig} ` +
        `--cert-duration=24h --windows-service --logfile ${file.hybridOverlayLog} --k8s-apiserver=${apiServerUrl} ` +
        `--k8s-cacert ${file.bootstrapCa}`,
      nodeVariablesInCommand: [nodeName],
      dependencies: [serviceName.kubelet],
      bootstrap: false,
      priority: 2,
    },
    {
      name: serviceName.csiProxy,
      path: `${file.csiProxy} -log_file=${file.csiProxyLog} -logtostderr=false -windows-service --v=2`,
      bootstrap: false,
      priority: 2,
    },
    {
      name: serviceName.kubeProxy,
      path: `${file.logRunner} -log-file=${file.kubeProxyLog} ${file.kubeProxy} --config ${file.kubeProxyConfig} --windows-service`,
      powershellPreScripts: [networkScript],
      dependencies: [serviceName.hybridOverlay],
      bootstrap: false,
      priority: 3,
    },
  ];
}

const kubeletCommand = [
  `${file.logRunner} -log-file=${file.kubeletLog} ${file.kubelet} --config=${file.kubeletConfig}`,
  `--bootstrap-kubeconfig=${file.bootstrapKubeconfig} --kubeconfig=${file.kubeconfig} --cert-dir=${dir.kubeletPki}`,
  `--windows-service --node-labels=${nodeLabel.osId}=Windows --windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS`,
  '--v=2 --node-ip=NODE_IP',
].join(' ');

/** Only its output counts: one address. */
const addressScript = '(Get-NetIPConfiguration | Where-Object IPv4DefaultGateway).IPv4Address.IPAddress';

const networkScript = {
  path:
    `${dir.temp}\\network-conf.ps1 -hostnameOverride NODE_NAME -clusterCIDR NODE_SUBNET -kubeConfigPath KUBE_CONFIG_PATH ` +
    '-kubeProxyConfigPath KUBE_PROXY_CONFIG_PATH -verbosity VERBOSITY',
  NodeArgs: [
    nodeName,
    {
      name: 'NODE_SUBNET',
      nodeObjectJsonPath: `{.metadata.annotations.${nodeAnnotation.hybridOverlaySubnet.replaceAll('.', '\\.')}}`,
    },
    { name: 'KUBE_CONFIG_PATH', nodeObjectJsonPath: file.kubeconfig },
    { name: 'KUBE_PROXY_CONFIG_PATH', nodeObjectJsonPath: file.kubeProxyConfig },
    { name: 'VERBOSITY', nodeObjectJsonPath: '0' },
  ],
};
