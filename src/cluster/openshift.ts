import { AppError, attempt, shown } from '#base/errors.ts';
import { scanPem } from '#base/pem.ts';
import { platforms } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { platformWithVxlanPort } from '#contract/supported-versions.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { workerFile } from '#contract/worker-files.ts';
import type { ClusterFacts, FactsReading, OperatorSettings } from './facts.ts';
import { malformedIgnition, readKubeletArguments } from './ignition.ts';
import { readWorkerFiles } from './ignition-files.ts';
import {
  checkHybridOverlay,
  clusterDns,
  readNetwork,
  readNetworkType,
  readPodNetworks,
  readServiceCidr,
  vxlanPort,
} from './network.ts';
import { openshiftReserved } from './reserved.ts';
import { OpenshiftObjects } from './openshift-objects.ts';
import { checkServerVersion } from './server-version.ts';
import { readTlsProfile, tlsInForce } from './tls-profile.ts';

/**
 * Reads all facts and continues after a problem, so that users can fix all of them at once. `last` are the facts before: they bridge the
 * time in which the cluster injects the CA bundle of its proxy.
 */
export function openshiftFacts(
  objects: readonly KubeObject[],
  settings: OperatorSettings,
  last?: ClusterFacts,
): FactsReading {
  const cluster = new OpenshiftObjects(objects, settings);
  const findings: AppError[] = [];
  const read = <T>(reader: () => T): T => {
    const result = attempt(reader);
    if (result.ok) return result.value;
    if (!findings.some(known => known.message === result.error.message)) findings.push(result.error);
    // Callers never see it: with a finding there are no facts.
    return undefined as T;
  };
  // readNetwork stops at its first problem; these calls report all of them.
  read(() => readNetworkType(cluster.network()));
  read(() => readServiceCidr(cluster.network()));
  read(() => checkHybridOverlay(cluster.networkOperator()));
  read(() => vxlanPort(cluster.networkOperator()));
  const facts: ClusterFacts = {
    platform: read(() => cluster.platform()),
    apiServerUrl: read(() => cluster.apiServerUrl()),
    network: read(() => readNetwork(cluster.network(), cluster.networkOperator())),
    reserved: read(() => openshiftReserved(cluster.network(), cluster.networkOperator(), cluster.infrastructure())),
    kubeletArguments: read(() => cluster.kubeletArguments()),
    workerFiles: read(() => cluster.workerFiles()),
    kubeletCa: read(() => cluster.kubeletCa()),
    registryBundles: read(() => cluster.registryBundles()),
    ...read(() => proxyFacts(cluster, last)),
    ...(settings.kubeletVersion !== undefined && { kubeletVersion: settings.kubeletVersion }),
    ...(settings.optionalPrograms !== undefined && { optionalPrograms: settings.optionalPrograms }),
  };
  return { facts: findings.length === 0 ? facts : undefined, findings };
}

/** Whether the cluster has a proxy, or will have one as soon as its CA bundle is there. */
export function wantsProxy(
  objects: readonly KubeObject[],
  settings: Pick<OperatorSettings, 'namespace' | 'proxy'>,
): boolean {
  const proxy = attempt(() => new OpenshiftObjects(objects, settings).proxy());
  return proxy.ok && Object.keys(proxy.value).length > 0;
}

/**
 * A proxy that is switched on counts as soon as its bundle is there: variables and certificates reach hosts together, and hosts join
 * as before meanwhile. A bundle that goes away, such as with a deleted ConfigMap, is kept until the next one is injected.
 */
function proxyFacts(
  cluster: OpenshiftObjects,
  last: Pick<ClusterFacts, 'proxy' | 'trustedCa'> | undefined,
): Pick<ClusterFacts, 'proxy' | 'trustedCa'> {
  const proxy = cluster.proxy();
  const bundle = attempt(() => cluster.trustedCa());
  if (bundle.ok) return { proxy, trustedCa: bundle.value };
  if (last === undefined) throw bundle.error;
  const { trustedCa } = last;
  return { proxy: trustedCa === undefined ? last.proxy : proxy, trustedCa };
}

export interface CheckResult {
  check: string;
  ok: boolean;
  /** What was found, good or bad. */
  detail: string;
  error?: AppError;
}

/**
 * Checks whether the cluster supports Windows nodes. Every check runs, whether or not others fail. Without `serverVersion` the newest
 * kubelet among the Nodes decides.
 */
export function checkCluster(
  objects: readonly KubeObject[],
  settings: OperatorSettings,
  serverVersion?: string,
  kubeletVersion: string = payloadKubeletVersion,
): CheckResult[] {
  const cluster = new OpenshiftObjects(objects, settings);
  return checks.map(([check, run]) => {
    const result = attempt(() => run(cluster, { server: serverVersion, kubelet: kubeletVersion }));
    if (result.ok) return { check, ok: true, detail: result.value };
    return { check, ok: false, detail: result.error.message, error: result.error };
  });
}

/** Returns what was found, or throws what is wrong with it. */
type Check = (cluster: OpenshiftObjects, versions: Versions) => string;

interface Versions {
  /** Of the API server, if known. */
  server: string | undefined;
  /** Of the payload. */
  kubelet: string;
}

const checks: readonly (readonly [string, Check])[] = [
  ['network type', cluster => readNetworkType(cluster.network())],
  ['hybrid overlay', checkOverlay],
  ['service network', checkServiceNetwork],
  ['cluster network', cluster => readPodNetworks(cluster.network(), cluster.networkOperator()).join(', ')],
  ['VXLAN port', checkVxlanPort],
  ['API server version', checkVersion],
  ['platform', checkPlatform],
  ['API server address', cluster => cluster.apiServerUrl()],
  ['worker config', checkWorkerConfig],
  ['kubelet CA', checkKubeletCa],
  ['registry CAs', cluster => printCount(cluster.registryBundles().length, 'bundle')],
  ['trusted CA', cluster => (cluster.trustedCa() === undefined ? 'no cluster proxy' : 'injected')],
  ['TLS profile', checkTls],
];

function checkOverlay(cluster: OpenshiftObjects): string {
  checkHybridOverlay(cluster.networkOperator());
  return 'configured';
}

function checkServiceNetwork(cluster: OpenshiftObjects): string {
  const cidr = readServiceCidr(cluster.network());
  return `${cidr}, DNS at ${clusterDns(cidr)}`;
}

/** VMware NSX uses the default port on vSphere. */
function checkVxlanPort(cluster: OpenshiftObjects): string {
  const port = vxlanPort(cluster.networkOperator());
  const isDefault = port === '' || port === '4789';
  if (cluster.platform() !== platformWithVxlanPort || !isDefault) return port === '' ? 'default' : port;
  throw new AppError('NETWORK_VXLAN_PORT_TAKEN', 'platform VSphere needs a VXLAN port other than the default 4789', {
    remedy: 'Set hybridOverlayVXLANPort, for example to 9898, in the hybridOverlayConfig of the network operator.',
  });
}

function checkVersion(cluster: OpenshiftObjects, { server, kubelet }: Versions): string {
  const version = server ?? cluster.newestKubeletVersion();
  checkServerVersion(version, kubelet);
  return server === undefined ? `${version} (from the newest kubelet)` : version;
}

function checkPlatform(cluster: OpenshiftObjects): string {
  const platform = cluster.platform();
  return (platforms as readonly string[]).includes(platform) ? platform : `${platform} (no special handling)`;
}

function checkWorkerConfig(cluster: OpenshiftObjects): string {
  const config = cluster.workerConfig();
  const kubelet = readKubeletArguments(config);
  const files = readWorkerFiles(config, kubelet);
  // The kubelet would not start with a flag that names a missing file.
  if (Object.hasOwn(kubelet, 'cloud-config') && !Object.hasOwn(files, workerFile.cloudConfig)) {
    throw malformedIgnition(config.label, `kubelet has --cloud-config, but file ${workerFile.cloudConfig} is missing`);
  }
  const options = Object.entries(kubelet).map(([name, value]) => `--${name}=${value}`);
  return [config.label, ...options, ...Object.keys(files)].join(', ');
}

function checkKubeletCa(cluster: OpenshiftObjects): string {
  const { blocks, broken } = scanPem(cluster.kubeletCa());
  if (blocks.length > 0 && broken.length === 0) return printCount(blocks.length, 'certificate');
  const what = broken.map(({ line, why }) => `the block at line ${line} ${why}`).join(', ') || 'no certificate found';
  throw new AppError('CERTIFICATE_BUNDLE_MALFORMED', `kubelet CA of the ControllerConfig: ${what}`, {
    remedy:
      'Repair the ConfigMap kube-apiserver-to-kubelet-client-ca, which the machine config operator copies to the ControllerConfig.',
  });
}

function checkTls(cluster: OpenshiftObjects): string {
  const profile = readTlsProfile(cluster.apiServer());
  const use = tlsInForce(profile) === undefined ? 'not applied' : 'applied';
  return `${profile.minTlsVersion}, ${use} (adherence ${shown(profile.adherence)})`;
}

function printCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
