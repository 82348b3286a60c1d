import { knownGoodFile } from '../../src/agent/known-good.ts';
import { type AgentReport, parseReport, reportName } from '../../src/contract/agent-report.ts';
import type { Client } from '../../src/kube/client.ts';
import * as kinds from '../../src/kube/resources.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** Everything on a host that a restart, a reboot or a new file changes. */
export async function hostState(host: SimulatedHost): Promise<{ files: Record<string, string>; rest: unknown }> {
  const { files, services, state } = host;
  // It has a copy of the Node, which every pass brings up to date.
  const paths = files.paths().filter(path => path !== knownGoodFile);
  const hashes = paths.map(path => [path, files.content(path)?.sha256 ?? '']);
  const { boots, variables, networks, endpoints, certificates } = state;
  const rest = {
    name: host.spec.name,
    services: await services.list(),
    boots,
    variables: { ...variables },
    networks: structuredClone(networks),
    endpoints: structuredClone(endpoints),
    certificates: [...certificates.keys()],
  };
  return { files: Object.fromEntries(hashes) as Record<string, string>, rest };
}

export async function fleetState({ hosts }: Pick<Sandbox, 'hosts'>) {
  return Promise.all(hosts.map(hostState));
}

/** Windows Nodes without what heartbeats change, and their pods. */
export async function nodeState(client: Client): Promise<unknown> {
  const { items } = await client.list(kinds.nodes, { labelSelector: 'kubernetes.io/os=windows' });
  const pods = await client.list(kinds.pods);
  return {
    nodes: items.map(({ metadata: { name, uid, labels, annotations }, spec, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      const { status: isReady, lastTransitionTime } = ready ?? {};
      return { name, uid, labels, annotations, spec, isReady, lastTransitionTime };
    }),
    pods: pods.items.map(({ metadata: { name, uid, deletionTimestamp }, spec }) => {
      return { name, uid, deletionTimestamp, node: spec?.nodeName };
    }),
  };
}

export async function reportOf(client: Client, namespace: string, node: string): Promise<AgentReport | undefined> {
  const found = await client.find(kinds.configMaps, reportName(node), { namespace });
  return found && parseReport(found.data);
}
