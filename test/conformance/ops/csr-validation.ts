import { toBase64 } from '../../../src/base/bytes.ts';
import { parseEntries } from '../../../src/contract/instances.ts';
import { isIpv4 } from '../../../src/base/ipv4.ts';
import { parseCertificateRequest } from '../../../src/contract/csr-request.ts';
import { nodeLabel } from '../../../src/contract/names.ts';
import type { NodeView } from '../../../src/contract/node.ts';
import { readObject } from '../../../src/contract/object.ts';
import { type CsrDecision, type CsrFacts, decideCsr, readCsr } from '../../../src/controllers/csr/decide.ts';
import { nodeNameMatchesInstance } from '../../../src/controllers/csr/names.ts';
import { type CertificateKind, checkCertificateContent } from '../../../src/controllers/csr/rules.ts';
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
  nodeNameMatchesInstance: (input: Input) => ({
    value: nodeNameMatchesInstance(input.nodeName, input.instanceAddresses, input.dnsPTR ?? {}),
  }),
  kubeletApprover: decideRow,
  wicdApprover: decideRow,
};

function decideRow(input: Input): unknown {
  const facts = factsOf(input);
  const first = decideCsr(facts);
  return result(first.do === 'ask' ? decideCsr({ ...facts, hostNames: input.sshHostnames ?? {} }) : first);
}

function result(decision: CsrDecision): unknown {
  return decision.do === 'approve'
    ? { decision: 'approve', condition: decision.condition }
    : { decision: 'refuse', because: decision };
}

function factsOf(input: Input): CsrFacts {
  const { request, conditions, ...spec } = input.csr;
  const csr = readObject({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'row' },
    spec: { ...spec, request: toBase64((request.pem ?? request.requestText ?? '') as string) },
    status: { conditions },
  });
  const entries = parseEntries(input.windowsInstances ?? {}).filter(entry => entry.ok);
  return {
    csr: readCsr(csr),
    operatorNamespace: input.operatorNamespace ?? '',
    instances: entries.map(({ address }) => ({
      address,
      ipv4: isIpv4(address) ? address : (input.dnsA?.[address] ?? undefined),
    })),
    nodes: ((input.existingNodes ?? []) as Input[]).map(nodeOf),
    ptrAnswers: input.dnsPTR ?? {},
    hostNames: {},
  };
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
