import { sameData } from '#base/compare.ts';
import { exporterService, ports, secretName } from '#contract/names.ts';
import type { Service, ServicePort } from '#kube/resources.ts';

const port: ServicePort = { name: 'metrics', port: ports.exporter, protocol: 'TCP', targetPort: ports.exporter };
const labels = { name: exporterService.name };
const annotations = { [exporterService.secretAnnotation]: secretName.tls };

/** The Service of the exporters. It has no selector: Prometheus finds the exporters by the endpoints of the kubelets. */
export function newService(namespace: string, asksServiceCa: boolean): Service {
  const metadata = { name: exporterService.name, namespace, labels };
  return { metadata: asksServiceCa ? { ...metadata, annotations } : metadata, spec: { ports: [port] } };
}

/** The merge patch that repairs the Service; undefined when it is right. Everything that others added stays. */
export function repairOf({ metadata, spec = {} }: Service, asksServiceCa: boolean): object | undefined {
  const { ports: all = [], selector } = spec;
  const isAsked = !asksServiceCa || metadata.annotations?.[exporterService.secretAnnotation] === secretName.tls;
  const hasLabel = metadata.labels?.['name'] === labels.name;
  const hasPort = all.some(each => sameData(usedFields(each), port));
  const hasSelector = Object.keys(selector ?? {}).length > 0;
  if (isAsked && hasLabel && hasPort && !hasSelector) return undefined;
  return {
    metadata: { ...(!hasLabel && { labels }), ...(!isAsked && { annotations }) },
    spec: { ...(!hasPort && { ports: [...all.filter(isOther), port] }), ...(hasSelector && { selector: null }) },
  };
}

function usedFields({ name, port: number, protocol = 'TCP', targetPort = number }: ServicePort): object {
  return { name, port: number, protocol, targetPort };
}

/** Names and numbers of ports are unique in a Service. */
function isOther(each: ServicePort): boolean {
  return each.name !== port.name && each.port !== port.port;
}
