import { setTimeout as delay } from 'node:timers/promises';
import { type AgentReport, isReportName, parseReport, reportName } from '../../src/contract/agent-report.ts';
import { nodeAnnotation } from '../../src/contract/names.ts';
import { isAlreadyExists, isNotFound } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, type Node, nodes } from '../../src/kube/resources.ts';

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
  const stop = new AbortController();
  const { signal } = stop;
  const marked = new Set<string>();
  const running = (async () => {
    while (!signal.aborted) {
      // The API server may be away for a while.
      await mirrorAll(client, namespace, marked, signal).catch(() => undefined);
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the mirror ends'));
      await running;
    },
  };
}

async function mirrorAll(client: Client, namespace: string, marked: Set<string>, signal: AbortSignal): Promise<void> {
  const { items } = await client.listAll(configMaps, { namespace, signal });
  const reports = items.filter(({ metadata }) => isReportName(metadata.name ?? ''));
  if (reports.length === 0) return;
  for (const node of (await client.listAll(nodes, { signal })).items) {
    const found = reports.find(({ metadata }) => metadata.name === reportName(node.metadata.name ?? ''));
    if (found !== undefined) await mirror(client, node, parseReport(found.data), marked);
  }
}

async function mirror(client: Client, node: Node, report: AgentReport, marked: Set<string>): Promise<void> {
  const { name = '', annotations: has = {} } = node.metadata;
  const annotations = {
    ...(report.version !== '' && has[version] !== report.version && { [version]: report.version }),
    ...(report.rebootRequired && !(rebootRequired in has) && { [rebootRequired]: '' }),
    // A mark that a test has made is its own to remove.
    ...(!report.rebootRequired && marked.has(name) && { [rebootRequired]: null }),
  };
  if (Object.keys(annotations).length === 0) return;
  if (report.rebootRequired) marked.add(name);
  else marked.delete(name);
  const body = { metadata: { annotations } };
  await client.patch(nodes, name, { type: 'merge', body }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
