import { attempt } from '../../../src/base/errors.ts';
import { toBase64 } from '../../../src/base/bytes.ts';
import { normalHostName } from '../../../src/base/dns-name.ts';
import { isIpv4 } from '../../../src/base/ipv4.ts';
import { byNode, indexByNode, type WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { parseCertificateRequest } from '../../../src/contract/csr-request.ts';
import { parseEntries } from '../../../src/contract/instances.ts';
import { defaultNamespace, nodeLabel } from '../../../src/contract/names.ts';
import type { NodeView } from '../../../src/contract/node.ts';
import { readObject } from '../../../src/contract/object.ts';
import { noReservations } from '../../../src/contract/reserved.ts';
import { lifetimeLimit } from '../../../src/contract/certificate-lifetime.ts';
import { writesTokenIds } from '../../../src/contract/token-id.ts';
import type { WindowsInstanceStatus } from '../../../src/contract/windows-instance/resource.ts';
import { type CsrDecision, type CsrFacts, decideCsr, readCsr, subjectOf } from '../../../src/controllers/csr/decide.ts';
import { evidenceOf } from '../../../src/controllers/csr/evidence.ts';
import { byHostName, findInstance, hostNames, takenNames } from '../../../src/controllers/csr/observe.ts';
import type { CertificateKind } from '../../../src/controllers/csr/case.ts';
import { checkCertificateContent } from '../../../src/controllers/csr/rules.ts';
import { Store } from '../../../src/kube/informer/store.ts';
import { nodeList } from '../../kit/node-list.ts';
import type { Input, Operation } from '../row.ts';

const kinds: Record<string, CertificateKind> = {
  wicd: 'agent',
  'kubelet-client': 'kubelet-client',
  'kubelet-serving': 'kubelet-serving',
};

export const ops: Record<string, Operation> = {
  parseRequest: (input: Input) => ({ ok: true, ...parseCertificateRequest(input.requestText) }),
  checkCertificateContent: (input: Input) => {
    const kind = kinds[input.certType as string];
    if (kind === undefined) throw new Error(`unknown certificate type ${input.certType}`);
    checkCertificateContent(kind, parseCertificateRequest(input.request.pem));
    return { ok: true };
  },
  nodeNameMatchesInstance: ({ nodeName, instanceAddresses, ...input }: Input) => {
    const windowsInstances = Object.fromEntries((instanceAddresses as string[]).map(each => [each, 'username=core']));
    return { value: findInstance(nodeName, storeOf({ ...input, windowsInstances })) !== undefined };
  },
  kubeletApprover: (input: Input) => result(decideCsr(factsOf(input))),
  wicdApprover: (input: Input) => result(decideCsr(factsOf(input))),
};

function result(decision: CsrDecision): unknown {
  if (decision.do === 'approve') return { decision: 'approve', condition: decision.condition };
  // No row has a host that can be read again.
  return { decision: 'refuse', because: decision.do === 'inspect' ? decision.otherwise : decision };
}

function factsOf(input: Input): CsrFacts {
  const csr = csrOf(input);
  const subject = subjectOf(csr);
  const store = storeOf(input);
  const instance = subject && findInstance(subject.node, store);
  const nodes = ((input.existingNodes ?? []) as Input[]).map(nodeOf);
  return {
    csr,
    operatorNamespace: input.operatorNamespace ?? '',
    instance: instance && evidenceOf(instance, ownVersion),
    node: nodes.find(({ name }) => name === subject?.node),
    hasTokenIds: writesTokenIds(input.serverVersion ?? ''),
    lifetime: lifetimeLimit('24h', input.serverVersion ?? ''),
    reserved: noReservations,
    taken: instance && subject ? takenNames(subject.names, instance, store, nodeList(...nodes)) : {},
    ageMs: Number.POSITIVE_INFINITY,
  };
}

const ownVersion = 'v';

function csrOf({ csr: { request, conditions, ...spec } }: Input): CsrFacts['csr'] {
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'row' },
    // The rows have no lifetimes.
    spec: {
      expirationSeconds: 86_400,
      ...spec,
      request: toBase64((request.pem ?? request.requestText ?? '') as string),
    },
    status: { conditions },
  };
  return readCsr(readObject(object));
}

function storeOf(input: Input): Store<WindowsInstance> {
  const store = new Store<WindowsInstance>();
  store.addIndex(byNode, indexByNode);
  store.addIndex(byHostName, hostNames);
  for (const instance of instancesOf(input)) store.put(instance);
  return store;
}

/**
 * The WindowsInstances of a row. `records` has their status by address; the default is what the operator would have recorded:
 * the name of the host over SSH or in the list, and the key of the request for the host of an existing agent.
 */
export function instancesOf(input: Input): WindowsInstance[] {
  const entries = parseEntries(input.windowsInstances ?? {}).filter(entry => entry.ok);
  const agents = input.windowsInstances === undefined ? ((input.existingNodes ?? []) as Input[]) : [];
  return [
    ...entries.map(({ address }) => instanceOf(address, input.records?.[address] ?? recordOf(address, input))),
    ...agents.map(({ name }) => instanceOf(name, input.records?.[name] ?? agentRecord(name, input))),
  ];
}

function instanceOf(address: string, status: WindowsInstanceStatus): WindowsInstance {
  const metadata = { name: address, namespace: defaultNamespace, uid: address };
  return { metadata, spec: { address, username: 'core', source: { kind: 'ConfigMap', name: address } }, status };
}

function recordOf(address: string, input: Input): WindowsInstanceStatus {
  const name = input.sshHostnames?.[address] ?? (isIpv4(address) ? undefined : address);
  const addresses = [isIpv4(address) ? address : (input.dnsA?.[address] ?? [])].flat();
  return name === undefined ? {} : { host: { name: normalHostName(name), addresses } };
}

function agentRecord(name: string, { csr }: Input): WindowsInstanceStatus {
  const parsed = attempt(() => parseCertificateRequest(csr.request.pem ?? ''));
  const identity = parsed.ok ? { agent: { keyHash: parsed.value.keyHash, installed: '2026-03-01T12:00:00Z' } } : {};
  return { host: { name, addresses: [] }, ...identity };
}

function nodeOf(node: Input): NodeView {
  return {
    name: node.name,
    uid: '',
    labels: node.os === undefined ? {} : { [nodeLabel.os]: node.os },
    annotations: {},
    addresses: node.addresses ?? [],
    ready: true,
    unschedulable: false,
  };
}
