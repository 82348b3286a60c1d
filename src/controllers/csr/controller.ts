import { type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import { nodeLabel, signer } from '#contract/names.ts';
import { readTokenIds } from '#contract/token-id.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { watching } from '#kube/controller/watches.ts';
import { keyOf } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { type Permission, reading } from '../permissions.ts';
import { isDecided } from './approve.ts';
import { Approver, type CsrParts } from './approver.ts';
import { hostAsker } from './ask-host.ts';
import { HostNames } from './host-names.ts';
import { isCounted, NodeReader } from './observe.ts';

const certificates = certificateSigningRequests.group;

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests'], verbs: reading },
  { in: 'cluster', group: certificates, resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
  { in: 'cluster', group: certificates, resources: ['signers'], verbs: ['approve'], names: Object.values(signer) },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  // Where events about objects without a namespace are.
  { in: { namespace: 'default' }, group: '', resources: ['events'], verbs: ['create', 'patch'] },
];

/** Decides about requests for certificates of kubelets on hosts that no Machine stands behind, and of the agent on every host. */
export function csrController(parts: CsrParts): Controller {
  const { informers, namespace, clock, limits = {}, heardNames } = parts;
  const requests = informers.get(certificateSigningRequests);
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  const waiting = () => requests.store.list().filter(isPending).map(keyOf);
  const hostNames = new HostNames({ ask: hostAsker(parts), waiting, clock, limits });
  heardNames?.onName((instance, name) => hostNames.learn(instance, name));
  const approver = new Approver(parts, {
    requests: requests.store,
    instances: instances.store,
    nodes: new NodeReader(nodeSource.store),
    hostNames,
  });
  return new Controller({
    ...parts,
    name: 'csr',
    concurrency: 10,
    passTimeoutMs: 60_000,
    watches: [
      watching({ source: requests, predicate: matching(isPending) }),
      watching({ source: nodeSource, predicate: changed(whatMattersOfNode), keys: waiting }),
      watching({ source: instances, predicate: changed(whatMattersOfInstance), keys: waiting }),
      hostNames,
    ],
    reconcile: (key, pass) => approver.reconcile(key, pass),
  });
}

function isPending(request: CertificateSigningRequest): boolean {
  return !isDecided(request);
}

function whatMattersOfNode({ metadata, status }: Node): unknown {
  return [metadata.uid, metadata.labels?.[nodeLabel.os], status?.addresses];
}

function whatMattersOfInstance(instance: InstanceObject): unknown {
  const { metadata, spec, status } = instance;
  return [isCounted(instance), spec, status?.ipv4, status?.node, readTokenIds(metadata.annotations)];
}
