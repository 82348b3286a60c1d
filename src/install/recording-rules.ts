/** Metrics of Windows under the names that the console of OpenShift reads for Linux nodes and pods. */
export const recordingRules: readonly { record: string; expr: string }[] = [
  {
    record: 'instance:node_cpu_utilisation:rate1m',
    expr: '1 - avg without (core, mode)(rate(windows_cpu_time_total{mode="idle"}[1m]))',
  },
  // Cores in use: time that is not idle.
  { record: 'instance:node_cpu:rate:sum', expr: 'sum(rate(windows_cpu_time_total{mode!="idle"}[3m])) BY (instance)' },
  { record: 'node_filesystem_size_bytes', expr: 'windows_logical_disk_size_bytes' },
  { record: 'node_filesystem_avail_bytes', expr: 'windows_logical_disk_free_bytes' },
  { record: 'node_filesystem_free_bytes', expr: 'windows_logical_disk_free_bytes' },
  // Counters: whoever reads them takes the rate.
  { record: 'node_network_receive_bytes_total', expr: 'windows_net_bytes_received_total' },
  { record: 'node_network_transmit_bytes_total', expr: 'windows_net_bytes_sent_total' },
  { record: 'node_memory_MemAvailable_bytes', expr: 'windows_memory_available_bytes' },
  { record: 'node_memory_MemTotal_bytes', expr: 'windows_memory_physical_total_bytes' },
  { record: 'node_cpu_info', expr: 'windows_cpu_info' },
  { record: 'pod:container_cpu_usage:sum', expr: ofPods('rate(windows_container_cpu_usage_seconds_total[5m])') },
  {
    record: 'container_memory_working_set_bytes',
    expr: `label_replace(${named('windows_container_memory_usage_private_working_set_bytes', 'container')},"container","","","")`,
  },
  {
    record: 'pod_interface_network:container_network_receive_bytes:irate5m',
    expr: ofPods('irate(windows_container_network_receive_bytes_total[5m])', 'interface'),
  },
  {
    record: 'pod_interface_network:container_network_transmit_bytes_total:irate5m',
    expr: ofPods('irate(windows_container_network_transmit_bytes_total[5m])', 'interface'),
  },
];

function ofPods(metric: string, label = 'container'): string {
  return `sum(${named(metric, label)}) by (pod,namespace)`;
}

/** The exporter knows containers by id only. */
function named(metric: string, label: string): string {
  return `${metric} * on(container_id) group_left(namespace, pod, ${label}) kube_pod_container_info{container_id!=""}`;
}
