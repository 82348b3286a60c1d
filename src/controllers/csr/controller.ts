import { byNode, indexByNode, type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import { nodeLabel, signer } from '#contract/names.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { watching } from '#kube/controller/watches.ts';
import { keyOf } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { nodeEventsNamespace, type Permission, reading } from '../permissions.ts';
import { isDecided } from './approve.ts';
import { Approver, type CsrParts } from './approver.ts';
import { HostInspector } from './host-inspector.ts';
import { evidenceOf } from './evidence.ts';
import { isEligible, NodeReader } from './observe.ts';

const certificates = certificateSigningRequests.group;

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests'], verbs: reading },
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  { in: 'cluster', group: certificates, resources: ['signers'], verbs: ['approve'], names: Object.values(signer) },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  // Where events about objects without a namespace are.
  { in: { namespace: nodeEventsNamespace }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

/** Decides about requests for certificates of kubelets on hosts that no Machine stands behind, and of the agent on every host. */
export function csrController(parts: CsrParts): Controller {
  const { informers, namespace } = parts;
  const requests = informers.get(certificateSigningRequests);
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byNode, indexByNode);
  const nodeSource = informers.get(nodes);
  const waiting = () => requests.store.list().filter(isOpen).map(keyOf);
  const inspector = new HostInspector(parts, waiting);
  const approver = new Approver(parts, {
    requests: requests.store,
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
      watching({ source: requests, predicate: matching(isOpen) }),
      watching({ source: nodeSource, predicate: changed(whatMattersOfNode), keys: waiting }),
      watching({
        source: instances,
        predicate: changed<InstanceObject>(each => [isEligible(each), evidenceOf(each, parts.version)]),
        keys: waiting,
      }),
      inspector,
    ],
    reconcile: (key, pass) => approver.reconcile(key, pass),
  });
}

/** Pending, or issued for an agent: the end of that certificate is recorded. */
function isOpen(request: CertificateSigningRequest): boolean {
  return !isDecided(request) || (request.spec.signerName === signer.apiClient && Boolean(request.status?.certificate));
}

function whatMattersOfNode({ metadata }: Node): unknown {
  return [metadata.uid, metadata.labels?.[nodeLabel.os]];
}
