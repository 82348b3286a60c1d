import { windowsTaint } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { defaultKubeletSettings } from './kubelet-defaults.ts';
import { type KubeletSettings, mergeSettings } from './kubelet-settings.ts';
import { kubeletFeatureGates } from './kubelet-versions.ts';

const unset = '0s';

/**
 * The kubelet's configuration file. Except for feature gates it is byte for byte as the Go operator writes it, so that the kubelet of an
 * adopted node does not restart. Unset durations are "0s", which the kubelet replaces with its defaults. `settings` are those of the
 * profiles in `windows-kubelet-config`.
 */
export function kubeletConfig(clusterDns: string, kubeletVersion?: string, settings: KubeletSettings = {}): string {
  const set = mergeSettings(defaultKubeletSettings, settings);
  const defaults = {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    syncFrequency: unset,
    fileCheckFrequency: unset,
    httpCheckFrequency: unset,
    rotateCertificates: true,
    serverTLSBootstrap: true,
    authentication: {
      x509: { clientCAFile: file.kubeletCa },
      webhook: { cacheTTL: unset },
      anonymous: { enabled: false },
    },
    authorization: { webhook: { cacheAuthorizedTTL: unset, cacheUnauthorizedTTL: unset } },
    clusterDomain: 'cluster.local',
    clusterDNS: [clusterDns],
    streamingConnectionIdleTimeout: unset,
    nodeStatusUpdateFrequency: unset,
    nodeStatusReportFrequency: unset,
    imageMinimumGCAge: unset,
    imageMaximumGCAge: unset,
    volumeStatsAggPeriod: unset,
    cgroupsPerQOS: false,
    cpuManagerReconcilePeriod: unset,
    runtimeRequestTimeout: '10m0s',
    maxPods: set['maxPods'],
    resolvConf: '',
    kubeAPIQPS: set['kubeAPIQPS'],
    kubeAPIBurst: set['kubeAPIBurst'],
    serializeImagePulls: set['serializeImagePulls'],
    evictionHard: set['evictionHard'],
    evictionPressureTransitionPeriod: unset,
    featureGates: kubeletFeatureGates(kubeletVersion),
    memorySwap: {},
    containerLogMaxSize: set['containerLogMaxSize'],
    systemReserved: set['systemReserved'],
    enforceNodeAllocatable: ['none'],
    logging: {
      flushFrequency: '5s',
      verbosity: 0,
      options: { text: { infoBufferSize: '0' }, json: { infoBufferSize: '0' } },
    },
    enableSystemLogHandler: true,
    enableSystemLogQuery: true,
    shutdownGracePeriod: unset,
    shutdownGracePeriodCriticalPods: unset,
    crashLoopBackOff: {},
    registerWithTaints: [windowsTaint],
    registerNode: true,
    containerRuntimeEndpoint: 'npipe://./pipe/containerd-containerd',
  };
  // A field that is not set by default comes last.
  return JSON.stringify({ ...defaults, ...set });
}
