import { operatorName } from '#contract/names.ts';
import type { Manifest } from '#operator/rbac-manifests.ts';
import type { PlatformKind } from './namespace.ts';

export interface DeploymentOptions {
  namespace: string;
  image: string;
  /** Default: 1. Each needs its own control-plane node, because they use ports of it. */
  replicas?: number;
  platform: PlatformKind;
  /** Whether the payload is checked with the key of the Secret `windows-payload-key`. */
  usesPayloadKey?: boolean;
}

export const payloadKeySecret = { name: 'windows-payload-key', key: 'public.pem' } as const;
const payloadKeyFolder = '/etc/windows-payload-key';
const cacheFolder = '/var/cache/windows-machine-config-operator';
const ports = { https: 9182, health: 9183 } as const;
const selector = { name: operatorName };

/** The pod of the operator. */
export function operatorDeployment(options: DeploymentOptions): Manifest {
  const { namespace, replicas = 1 } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: operatorName, namespace, labels: { 'app.kubernetes.io/name': operatorName, ...selector } },
    spec: {
      replicas,
      selector: { matchLabels: selector },
      // A new pod cannot start on a node whose ports the old one uses.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      template: {
        metadata: {
          labels: { 'app.kubernetes.io/name': operatorName, ...selector },
          annotations: { 'kubectl.kubernetes.io/default-container': 'manager' },
        },
        spec: podSpec(options),
      },
    },
  };
}

function podSpec(options: DeploymentOptions): Record<string, unknown> {
  return {
    serviceAccountName: operatorName,
    // Hosts may be in networks that only nodes reach.
    hostNetwork: true,
    dnsPolicy: 'ClusterFirstWithHostNet',
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { 'node-role.kubernetes.io/control-plane': '' },
    tolerations: [
      { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 120 },
    ],
    affinity: {
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] },
    },
    terminationGracePeriodSeconds: 30,
    securityContext: podSecurity(options.platform),
    containers: [container(options)],
    volumes: [
      { name: 'cache', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
      { name: 'payload-key', secret: { secretName: payloadKeySecret.name, optional: true } },
    ],
  };
}

const podAffinityTerm = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: selector } };

/** OpenShift chooses the user; elsewhere the image may name its user, which the kubelet cannot check for a name. */
function podSecurity(platform: PlatformKind): Record<string, unknown> {
  return {
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
    ...(platform === 'kubernetes' && { runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 }),
  };
}

function container({ image, usesPayloadKey = false }: DeploymentOptions): Record<string, unknown> {
  const key = `--payload-key=${payloadKeyFolder}/${payloadKeySecret.key}`;
  return {
    name: 'manager',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['windows-machine-config-operator'],
    args: [
      `--metrics-bind-address=0.0.0.0:${ports.https}`,
      `--health-probe-bind-address=0.0.0.0:${ports.health}`,
      // The operator wants to create the folder itself.
      `--payload-cache-dir=${cacheFolder}/payload`,
      ...(usesPayloadKey ? [key] : []),
    ],
    env: [
      { name: 'WATCH_NAMESPACE', valueFrom: fieldRef('metadata.namespace') },
      { name: 'POD_NAME', valueFrom: fieldRef('metadata.name') },
      { name: 'OPERATOR_NAME', value: operatorName },
    ],
    ports: Object.entries(ports).map(([name, port]) => ({
      name,
      containerPort: port,
      hostPort: port,
      protocol: 'TCP',
    })),
    // A start with a thousand nodes takes about a second; one that waits for certificates or CRDs takes longer.
    startupProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: {
      httpGet: { path: '/healthz', port: 'health' },
      periodSeconds: 20,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 10, timeoutSeconds: 5 },
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'cache', mountPath: cacheFolder },
      { name: 'tmp', mountPath: '/tmp' },
      { name: 'payload-key', mountPath: payloadKeyFolder, readOnly: true },
    ],
  };
}

function fieldRef(fieldPath: string): Record<string, unknown> {
  return { fieldRef: { fieldPath } };
}

/**
 * By docs/performance.md: 50 hosts that join take 129 MB, 200 take 143 MB, a thousand nodes at most 238 MB; idle CPU is
 * under 4 % of a core for a thousand nodes. The memory limit is four times the maximum, because packed programs in the
 * page cache count too. A CPU limit would slow down TLS and compression during joins for nothing.
 */
const resources = { requests: { cpu: '20m', memory: '160Mi' }, limits: { memory: '1Gi' } };
