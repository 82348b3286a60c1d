import { type AgentReport, parseReport, reportName } from '../../src/contract/agent-report.ts';
import { nodeAnnotation } from '../../src/contract/names.ts';
import { isAlreadyExists } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, type Node, nodes } from '../../src/kube/resources.ts';
import { startFollowing } from './follow.ts';

const { version, rebootRequired } = nodeAnnotation;
const everyMs = 50;

/** Makes the report of the agent of a Node, empty, as the operator does before the agent starts. */
export async function makeReport(client: Client, namespace: string, node: string): Promise<void> {
  await client.create(configMaps, { metadata: { name: reportName(node), namespace } }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** What the agent of a Node has reported. */
export async function readReport(client: Client, namespace: string, node: string): Promise<AgentReport> {
  return parseReport((await client.get(configMaps, reportName(node), { namespace })).data);
}

/** Makes the agent report the version again, as the operator does before it reconfigures a host. */
export async function forgetVersion(client: Client, namespace: string, node: string): Promise<void> {
  await client.patch(configMaps, reportName(node), { type: 'merge', body: { data: { version: '' } } }, { namespace });
  const body = { metadata: { annotations: { [version]: null } } };
  await client.patch(nodes, node, { type: 'merge', body });
}

/** Writes to the Nodes what their agents report, as the operator does; until it is stopped. */
export function startMirroring(client: Client, namespace: string): AsyncDisposable {
  const marked = new Set<string>();
  return startFollowing(client, everyMs, informers => {
    const { store: reports } = informers.get(configMaps, { namespace });
    const { store: seen } = informers.get(nodes);
    const look = async (node: Node) => {
      const { name = '' } = node.metadata;
      const report = reports.get({ namespace, name: reportName(name) });
      if (report === undefined || changes(node, parseReport(report.data), marked) === undefined) return;
      await mirror(client, namespace, name, marked);
    };
    return async () => {
      // The API server may be away for a while.
      for (const node of seen.list()) await look(node).catch(() => undefined);
    };
  });
}

/** Reads both again: what the watches have seen may be old. */
async function mirror(client: Client, namespace: string, name: string, marked: Set<string>): Promise<void> {
  const report = await readReport(client, namespace, name);
  const node = await client.find(nodes, name);
  const annotations = node && changes(node, report, marked);
  if (annotations === undefined) return;
  await client.patch(nodes, name, { type: 'merge', body: { metadata: { annotations } } });
  if (report.rebootRequired) marked.add(name);
  else marked.delete(name);
}

function changes({ metadata }: Node, report: AgentReport, marked: ReadonlySet<string>): object | undefined {
  const { name = '', annotations: has = {} } = metadata;
  const annotations = {
    ...(report.version !== '' && has[version] !== report.version && { [version]: report.version }),
    ...(report.rebootRequired && !(rebootRequired in has) && { [rebootRequired]: '' }),
    // A mark that a test has made is its own to remove.
    ...(!report.rebootRequired && marked.has(name) && { [rebootRequired]: null }),
  };
  return Object.keys(annotations).length === 0 ? undefined : annotations;
}
