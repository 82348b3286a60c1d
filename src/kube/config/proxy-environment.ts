import { BlockList, isIP } from 'node:net';
import { Secret } from '#base/secret.ts';

/**
 * The proxy for a server; undefined for a direct connection. HTTPS_PROXY is for https, HTTP_PROXY for http; NO_PROXY
 * lists names (with their subdomains), addresses and networks, each with an optional port.
 */
export function proxyFor(
  server: string,
  environment: Readonly<Record<string, string | undefined>>,
): Secret | undefined {
  const { protocol, hostname, port } = new URL(server);
  const value = variable(environment, protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY');
  if (value === '') return undefined;
  const target = {
    host: hostname.replaceAll(/[[\]]/g, '').replace(/\.$/, '').toLowerCase(),
    port: port || (protocol === 'http:' ? '80' : '443'),
  };
  const exceptions = variable(environment, 'NO_PROXY').split(',');
  if (isLoopback(target.host) || exceptions.some(entry => covers(entry.trim().toLowerCase(), target))) return undefined;
  return new Secret(value.includes('://') ? value : `http://${value}`);
}

interface Target {
  host: string;
  port: string;
}

/** Windows ignores case in names of variables. */
function variable(environment: Readonly<Record<string, string | undefined>>, name: string): string {
  const values = Object.entries(environment).map(([key, value]) => (key.toUpperCase() === name ? value?.trim() : ''));
  return values.find(value => value) ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function covers(entry: string, { host, port }: Target): boolean {
  if (entry === '*') return true;
  const network = /^(.+)\/(\d{1,3})$/.exec(entry);
  if (network !== null) return isWithin(host, network[1] ?? '', Number(network[2]));
  const [name, wantedPort] = withoutPort(entry);
  if (name === '' || (wantedPort !== undefined && wantedPort !== port)) return false;
  const suffix = name.replace(/^\*?\./, '.');
  if (suffix.startsWith('.')) return host.endsWith(suffix);
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function withoutPort(entry: string): [name: string, port: string | undefined] {
  if (isIP(entry) === 6) return [entry, undefined];
  const [, bracketed, plain = entry, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  return [bracketed ?? plain, port];
}

function isWithin(host: string, network: string, bits: number): boolean {
  const family = isIP(host);
  if (family === 0 || family !== isIP(network) || bits > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(network, bits, type);
  return list.check(host, type);
}
