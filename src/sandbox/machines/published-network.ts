import { isIpv4 } from '#base/ipv4.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';
import type { LocalApi, StoredObject } from '../apiserver/ports.ts';
import { recordAt, textsAt } from '../apiserver/object.ts';
import { dnsNameOf, type Fleet } from './fleet.ts';
import type { FindRoute, Route } from './routes.ts';

const place = { namespace: 'kube-public', name: 'sandbox-network' };

/** Publishes the routes to the hosts in the cluster, for operators in other processes. Writes only changes. */
export function publishNetwork(api: LocalApi, fleet: Pick<Fleet, 'hosts'>): void {
  const entries = fleet.hosts.flatMap(host => {
    const name = dnsNameOf(host);
    const { address } = host.spec;
    return [[address, printRoute(host.route())], ...(name === undefined ? [] : [[name, address]])];
  });
  const data = Object.fromEntries(entries) as Record<string, string>;
  const present = api.get(configMaps, place);
  if (present === undefined) api.create(configMaps, { metadata: place, data } as ConfigMap);
  else if (JSON.stringify(recordAt(present, 'data')) !== JSON.stringify(data))
    api.replace(configMaps, { ...present, data } as StoredObject);
}

/** The network of a sandbox in another process, read from its cluster. */
export function publishedNetwork(client: Client): { findRoute: FindRoute; names: Resolver } {
  const look = async () => textsAt(await client.get(configMaps, place.name, { namespace: place.namespace }), 'data');
  return {
    findRoute: async address => {
      const known = await look();
      const target = isIpv4(address) ? address : known[address.toLowerCase()];
      if (target === undefined) return 'unknown name';
      return parseRoute(known[target]);
    },
    names: {
      addresses: async name => {
        const address = isIpv4(name) ? name : (await look())[name.toLowerCase()];
        return address === undefined ? [] : [address];
      },
    },
  };
}

function printRoute(route: Route): string {
  return typeof route === 'string' ? route : String(route.port);
}

function parseRoute(text: string | undefined): Route | undefined {
  if (text === undefined || text === 'refused' || text === 'silent') return text;
  return { port: Number(text) };
}
