import { windowsTaint } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { kubeletFeatureGates } from './kubelet-versions.ts';

const unset = '0s';

/**
 * The kubelet's configuration file. Except for feature gates it is byte for byte as the Go operator writes it, so that the kubelet of an
 * adopted node does not restart. Unset durations are "0s", which the kubelet replaces with its defaults.
 */
export function kubeletConfig(clusterDns: string, kubeletVersion?: string): string {
  return JSON.stringify({
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
    maxPods: 250,
    resolvConf: '',
    kubeAPIQPS: 50,
    kubeAPIBurst: 100,
    serializeImagePulls: false,
    evictionHard: { 'imagefs.available': '15%', 'nodefs.available': '10%' },
    evictionPressureTransitionPeriod: unset,
    featureGates: kubeletFeatureGates(kubeletVersion),
    memorySwap: {},
    containerLogMaxSize: '50Mi',
    systemReserved: { cpu: '500m', 'ephemeral-storage': '1Gi', memory: '2Gi' },
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
  });
}
