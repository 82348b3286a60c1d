import { setTimeout as delay } from 'node:timers/promises';
import { nodeAnnotation, nodeLabel } from '../../../src/contract/names.ts';
import { isApiError, isNotFound } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { certificateSigningRequests, type Node, nodes } from '../../../src/kube/resources.ts';
import { type Machine, machines } from '../../../src/kube/resources-openshift.ts';
import { decideRequest } from '../../../src/sandbox/machines/cluster/machine-approver.ts';

/** The other operators of OpenShift that matter to Windows nodes, on a real API server. */
export interface OtherOperators extends AsyncDisposable {
  /** Errors except conflicts; a test asserts that there are none. */
  readonly errors: readonly string[];
}

const everyMs = 200;

/** OVN-Kubernetes gives subnets, the cluster approves kubelets of Machines, and the Machine API links Machines and Nodes. */
export function startOtherOperators(client: Client): OtherOperators {
  const ending = new AbortController();
  const errors: string[] = [];
  const running = (async () => {
    while (!ending.signal.aborted) {
      await lookOnce(client).catch((error: unknown) => isApiError(error, 'Conflict') || errors.push(String(error)));
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    errors,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}

async function lookOnce(client: Client): Promise<void> {
  const [{ items: allNodes }, { items: allMachines }] = await Promise.all([
    client.list(nodes),
    client.list(machines).catch(noneIfNotServed),
  ]);
  for (const node of allNodes.filter(lacksSubnet)) await giveSubnet(client, node);
  for (const node of allNodes.filter(isUninitialized)) await initialize(client, node);
  for (const machine of allMachines.filter(({ status }) => status?.phase === 'Provisioned')) {
    const node = allNodes.find(each => addressOf(each) === addressOf(machine));
    if (node !== undefined) await link(client, machine, node);
  }
  await approve(client, allMachines);
}

/** Only OpenShift has Machines. */
function noneIfNotServed(error: unknown): { items: Machine[] } {
  if (isNotFound(error)) return { items: [] };
  throw error;
}

function lacksSubnet({ metadata }: Node): boolean {
  const isWindows = metadata.labels?.[nodeLabel.os] === 'windows';
  return isWindows && metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet] === undefined;
}

/** The same for a host in every test, so that the double of hybrid-overlay-node on it can be set up beforehand. */
export function subnetOf(address = ''): string {
  return `10.132.${address.split('.').at(-1)}.0/24`;
}

async function giveSubnet(client: Client, node: Node): Promise<void> {
  const subnet = subnetOf(addressOf(node));
  const octets = subnet.split('.').slice(0, 3);
  const mac = octets.map(octet => Number(octet).toString(16).padStart(2, '0')).join(':');
  const annotations = {
    [nodeAnnotation.hybridOverlaySubnet]: subnet,
    [nodeAnnotation.hybridOverlayGatewayMac]: `0a:58:${mac}:03`,
  };
  await client.patch(nodes, node.metadata.name ?? '', { type: 'merge', body: { metadata: { annotations } } });
}

export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized';

function isUninitialized({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === uninitializedTaint) ?? false;
}

/** What a cloud controller does once it knows the host; others may change the taints meanwhile. */
async function initialize(client: Client, { metadata, spec }: Node): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  const taints = spec?.taints?.filter(({ key }) => key !== uninitializedTaint);
  await client.patch(nodes, name, { type: 'merge', body: { metadata: { resourceVersion }, spec: { taints } } });
}

/** The Node gets what the Machine has for it, and the Machine names its Node. */
async function link(client: Client, { metadata, spec }: Machine, node: Node): Promise<void> {
  const { name = '', namespace = '' } = metadata;
  const labels = (spec?.['metadata'] as { labels?: Record<string, string> } | undefined)?.labels ?? {};
  const annotations = { 'machine.openshift.io/machine': `${namespace}/${name}` };
  const body = { metadata: { labels, annotations }, spec: { providerID: spec?.providerID } };
  await client.patch(nodes, node.metadata.name ?? '', { type: 'merge', body });
  const nodeRef = { kind: 'Node', name: node.metadata.name, uid: node.metadata.uid };
  const status = { phase: 'Running', nodeRef };
  await client.patch(machines, name, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
}

async function approve(client: Client, all: readonly Machine[]): Promise<void> {
  const { items } = await client.list(certificateSigningRequests);
  for (const { metadata, spec, status } of items) {
    if ((status?.conditions ?? []).length > 0 || decideRequest(spec, all) !== 'approve') continue;
    const conditions = [
      { type: 'Approved', status: 'True', reason: 'NodeCSRApprove', message: 'approved by the cluster' },
    ];
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    await client.patch(certificateSigningRequests, metadata.name ?? '', patch, { subresource: 'approval' });
  }
}

function addressOf({ status }: Machine | Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}
