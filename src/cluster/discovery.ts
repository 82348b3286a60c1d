import { AppError, attempt } from '#base/errors.ts';
import { Fields, isRecord } from '#base/fields.ts';
import { isIpv4, parseIpv4, parseIpv4Cidr } from '#base/ipv4.ts';
import { yamlIn } from '#base/yaml-text.ts';
import type { KubeObject } from '#contract/object.ts';
import { onlyServer, parseKubeconfig } from '#kube/config/kubeconfig.ts';
import { type DiscoveryObject, discoveryLabel, discoveryObject } from './discovery-objects.ts';

/** A value and the object that it was read from. */
export interface Discovered {
  value: string;
  /** For the log. */
  from: string;
}

/** One of the objects that may have a value. */
export interface ValueSource {
  label: string;
  /** Undefined if the object or the value in it is missing. Throws an AppError for malformed content. */
  read(objects: readonly KubeObject[]): Discovered | undefined;
}

/** In the order of preference. */
export const apiServerUrlSources: readonly ValueSource[] = [
  sourceOf(discoveryObject.clusterInfo, clusterInfoServer),
  sourceOf(discoveryObject.apiServers, firstApiServer),
];

/** In the order of preference. */
export const serviceCidrSources: readonly ValueSource[] = [
  sourceOf(discoveryObject.serviceCidr, ({ fields }) => ipv4CidrOf(fields.object('spec').strings('cidrs'))),
  sourceOf(discoveryObject.kubeadmConfig, kubeadmSubnet),
];

export const clusterDnsSources: readonly ValueSource[] = [sourceOf(discoveryObject.dnsService, serviceAddress)];

/** Addresses of all API servers; empty if they are missing or malformed. */
export function apiServerAddresses(objects: readonly KubeObject[]): string[] {
  const slice = findObject(objects, discoveryObject.apiServers);
  const endpoints = attempt(() => slice?.fields.objects('endpoints') ?? []);
  // One that is malformed does not free the others, nor does one that is not ready.
  const addresses = (endpoints.ok ? endpoints.value : []).map(endpoint => attempt(() => endpoint.strings('addresses')));
  return [...new Set(addresses.flatMap(each => (each.ok ? each.value : [])).filter(isIpv4))];
}

/** A value, or a value and what else to log about it. */
type Reader = (object: KubeObject) => string | { value: string; detail: string } | undefined;

function sourceOf(place: DiscoveryObject, reader: Reader): ValueSource {
  const label = discoveryLabel(place);
  return {
    label,
    read: objects => {
      const object = findObject(objects, place);
      const found = object === undefined ? undefined : reader(object);
      if (found === undefined) return undefined;
      return typeof found === 'string'
        ? { value: found, from: label }
        : { value: found.value, from: `${label}, ${found.detail}` };
    },
  };
}

function findObject(
  objects: readonly KubeObject[],
  { versions: [{ kind }], namespace = '', name }: DiscoveryObject,
): KubeObject | undefined {
  return objects.find(
    object => object.kind === kind && object.meta.name === name && object.meta.namespace === namespace,
  );
}

/** Those of kubeadm have about 2 kB. */
const maxTextLength = 65_536;

function textOf({ fields, label }: KubeObject, key: string): string | undefined {
  const text = fields.object('data').string(key);
  if (text === undefined || text.length <= maxTextLength) return text;
  throw malformed(`${label}: ${key} is longer than ${maxTextLength} characters`);
}

function clusterInfoServer(object: KubeObject): string | undefined {
  const text = textOf(object, 'kubeconfig');
  return text === undefined ? undefined : onlyServer(parseKubeconfig(text, `${object.label}: kubeconfig`));
}

/** The first in numeric order, so that the order in which API servers register does not matter. */
function firstApiServer(slice: KubeObject): ReturnType<Reader> {
  const addresses = ipv4Endpoints(slice);
  const port = httpsPort(slice);
  const [first] = addresses;
  if (first === undefined || port === undefined) return undefined;
  const value = `https://${first}:${port}`;
  return addresses.length === 1 ? value : { value, detail: `first of ${addresses.length} addresses` };
}

function ipv4Endpoints({ fields }: KubeObject): string[] {
  const addresses = fields
    .objects('endpoints')
    .filter(endpoint => endpoint.object('conditions').boolean('ready') !== false)
    .flatMap(endpoint => endpoint.strings('addresses'))
    .filter(isIpv4);
  return [...new Set(addresses)].sort((one, other) => (parseIpv4(one) ?? 0) - (parseIpv4(other) ?? 0));
}

function httpsPort({ fields, label }: KubeObject): number | undefined {
  const ports = fields.objects('ports');
  const [only] = ports.length === 1 ? ports : ports.filter(port => port.string('name') === 'https');
  const port = only?.number('port');
  if (port === undefined || (Number.isInteger(port) && port > 0 && port < 65_536)) return port;
  throw malformed(`${label}: port ${port} is not a port`);
}

function kubeadmSubnet(object: KubeObject): string | undefined {
  const key = 'ClusterConfiguration';
  const text = textOf(object, key);
  if (text === undefined) return undefined;
  const config = yamlIn(text);
  const label = `${object.label}: ${key}`;
  if (!isRecord(config)) throw malformed(`${label} is not an object in YAML`);
  const subnets = new Fields(config, label).object('networking').string('serviceSubnet') ?? '';
  return ipv4CidrOf(subnets.split(',', maxSubnets).map(subnet => subnet.trim()));
}

/** One for each IP family. */
const maxSubnets = 2;

/** The first IPv4 network, or else the first one, for the error that it causes. */
function ipv4CidrOf(cidrs: readonly string[]): string | undefined {
  return cidrs.find(cidr => parseIpv4Cidr(cidr) !== undefined) ?? cidrs.find(cidr => cidr !== '');
}

function serviceAddress({ fields }: KubeObject): string | undefined {
  const spec = fields.object('spec');
  return [spec.string('clusterIP') ?? '', ...spec.strings('clusterIPs')].find(isIpv4);
}

function malformed(message: string): AppError {
  return new AppError('FIELD_INVALID', message, { remedy: 'Fix the object.' });
}
