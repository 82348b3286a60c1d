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
import { type Key, keyOf } from '#kube/resource.ts';
import { certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import { Approver, type CsrParts, type CsrStores } from './act/approver.ts';
import { HostInspector } from './act/host-inspector.ts';
import { evidenceOf } from './evidence.ts';
import { NodeReader } from '#node/node-reader.ts';
import { isEligible } from './observe.ts';
import { OpenRequests } from './act/open-requests.ts';
import { Readings } from './act/readings.ts';

const certificates = certificateSigningRequests.group;

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests'], verbs: reading },
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  { in: 'cluster', group: certificates, resources: ['signers'], verbs: ['approve'], names: Object.values(signer) },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
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
  const open = new OpenRequests(requests);
  const readings = new Readings();
  const judging = { requests: requests.store, open, readings };
  const ofNode = ({ metadata }: Node) => judgedBy(metadata.name ?? '', judging);
  const ofInstance = (instance: WindowsInstance) => {
    const name = boundNode(instance) ?? '';
    return [...judgedBy(name, judging), ...issuedFor(name, judging)];
  };
  const inspector = new HostInspector(parts, ofInstance);
  const approver = new Approver(parts, {
    ...judging,
    instances: instances.store,
    nodes: new NodeReader(nodeSource.store),
    inspector,
  });
  return new Controller({
    ...parts,
    name: 'csr',
    concurrency: 10,
    passTimeoutMs: 60_000,
    watches: [
      open,
      watching({ source: nodeSource, predicate: changed(relevantFields), keys: ofNode }),
      watching({
        source: instances,
        predicate: changed<WindowsInstance>(each => [isEligible(each), evidenceOf(each, parts.version)]),
        keys: ofInstance,
      }),
      inspector,
    ],
    reconcile: (key, pass) => approver.reconcile(key, pass),
  });
}

/**
 * Pending requests that depend on the Node of this name or on the record of its host. Serving requests are always among them, because
 * their names are compared with those of all other Nodes and hosts.
 */
function* judgedBy(name: string, { requests, open, readings }: Judging): Iterable<Key> {
  for (const key of open.judged()) {
    const request = requests.get(key);
    const subject = request && readings.known(request)?.subject;
    if (subject === undefined) continue;
    if (subject.node === name || request?.spec.signerName === signer.kubeletServing) yield key;
  }
}

/** Requests whose certificates were issued to this Node and may have an end to record. */
function* issuedFor(name: string, { requests, readings }: Judging): Iterable<Key> {
  for (const request of requests.list()) if (readings.knownIssued(request)?.node === name) yield keyOf(request);
}

type Judging = Pick<CsrStores, 'requests' | 'readings'> & { open: OpenRequests };

function relevantFields({ metadata }: Node): unknown {
  return [metadata.uid, metadata.labels?.[nodeLabel.os]];
}
