import { normalHostName } from '#base/dns-name.ts';
import {
  boundNode,
  byNode,
  indexByNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { nodeLabel, signer } from '#contract/names.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed } from '#kube/controller/predicate.ts';
import { watching } from '#kube/controller/watches.ts';
import { certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import { Approver, type CsrParts } from './act/approver.ts';
import { HostInspector } from './act/host-inspector.ts';
import { evidenceOf } from './evidence.ts';
import { NodeReader } from '#node/node-reader.ts';
import { byHostName, hostNames, isEligible } from './observe.ts';
import { OpenRequests } from './act/open-requests.ts';
import { Readings } from './act/readings.ts';

const certificates = certificateSigningRequests.group;

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests'], verbs: ['get', ...reading] },
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  { in: 'cluster', group: certificates, resources: ['signers'], verbs: ['approve'], names: Object.values(signer) },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: ['get', ...reading] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: ['get', ...reading] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  // Events of cluster-scoped objects are in this namespace.
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

/** Approves certificate requests of agents on all hosts, and of kubelets on hosts that are not Machines. */
export function csrController(parts: CsrParts): Controller {
  const { informers, namespace } = parts;
  const requests = informers.get(certificateSigningRequests);
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byNode, indexByNode);
  const nodeSource = informers.get(nodes);
  instances.addIndex(byHostName, hostNames);
  const readings = new Readings();
  const open = new OpenRequests(requests, readings);
  const ofNode = (node: Node) => readings.openFor(nodeNames(node));
  const ofInstance = (instance: WindowsInstance) => [
    ...readings.openFor(hostNames(instance)),
    ...readings.issuedFor(boundNode(instance) ?? ''),
  ];
  const inspector = new HostInspector(parts, ofInstance);
  const approver = new Approver(parts, {
    requests: requests.store,
    open,
    readings,
    instances: instances.store,
    nodes: new NodeReader(nodeSource),
    inspector,
  });
  return new Controller({
    ...parts,
    name: 'csr',
    concurrency: 20,
    passTimeoutMs: 60_000,
    watches: [
      open,
      watching({ source: nodeSource, predicate: changed(relevantFields), keys: ofNode }),
      watching({
        source: instances,
        predicate: changed<WindowsInstance>(each => [
          isEligible(each),
          evidenceOf(each, parts.version),
          hostNames(each),
        ]),
        keys: ofInstance,
      }),
      inspector,
    ],
    reconcile: (key, pass) => approver.reconcile(key, pass),
  });
}

/** Serving requests are judged again, too: their names are compared with those of all other Nodes. */
function nodeNames({ metadata, status }: Node): string[] {
  const addresses = status?.addresses?.map(({ address }) => address) ?? [];
  return [metadata.name ?? '', ...addresses].map(normalHostName);
}

function relevantFields(node: Node): unknown {
  return [node.metadata.uid, node.metadata.labels?.[nodeLabel.os], nodeNames(node)];
}
