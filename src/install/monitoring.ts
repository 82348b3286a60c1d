import { exporterService, operatorName, ports } from '#contract/names.ts';
import type { Manifest } from '#operator/rbac-manifests.ts';
import { recordingRules } from './recording-rules.ts';

const account = { name: 'prometheus-k8s', namespace: 'openshift-monitoring' };
export const rulesName = 'windows-prometheus-k8s-rules';
const rbacGroup = 'rbac.authorization.k8s.io';
const labels = { 'app.kubernetes.io/name': operatorName };

/** How the monitoring of OpenShift finds the exporters of Windows nodes, and the rules for its console. */
export function monitoringManifests(namespace: string): Manifest[] {
  const metadata = { name: account.name, namespace, labels };
  return [
    { apiVersion: `${rbacGroup}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: account.name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
    serviceMonitor(namespace),
    {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: {
        name: rulesName,
        namespace,
        labels: { ...labels, prometheus: 'k8s', role: 'alert-rules' },
      },
      spec: { groups: [{ name: 'windows.rules', rules: recordingRules }] },
    },
  ];
}

const rules = [
  { apiGroups: [''], resources: ['endpoints', 'pods', 'services'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
];

/** Uses the endpoints of the kubelet, keeps those of Windows nodes and takes the port of the exporter. */
function serviceMonitor(namespace: string): Manifest {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name: exporterService.name, namespace, labels: { ...labels, name: exporterService.name } },
    spec: {
      serviceDiscoveryRole: 'EndpointSlice',
      attachMetadata: { node: true },
      namespaceSelector: { matchNames: ['kube-system'] },
      selector: { matchLabels: { 'k8s-app': 'kubelet' } },
      endpoints: [
        {
          honorLabels: true,
          interval: '30s',
          path: '/metrics',
          port: 'https-metrics',
          scheme: 'https',
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
          tlsConfig: {
            caFile: '/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt',
            serverName: `${exporterService.name}.${namespace}.svc`,
          },
          relabelings: [
            {
              action: 'replace',
              regex: '(.*)',
              replacement: '$1',
              sourceLabels: ['__meta_kubernetes_endpointslice_endpoint_target_name'],
              targetLabel: 'instance',
            },
            { action: 'keep', regex: 'windows', sourceLabels: ['__meta_kubernetes_node_label_kubernetes_io_os'] },
            {
              action: 'replace',
              regex: String.raw`(.+)(?::\d+)`,
              replacement: `$1:${ports.exporter}`,
              sourceLabels: ['__address__'],
              targetLabel: '__address__',
            },
            { action: 'replace', replacement: exporterService.name, targetLabel: 'job' },
          ],
        },
      ],
    },
  };
}
