import { AppError, attempt, shown } from '#base/errors.ts';
import { parseGoDuration } from '#base/go-duration.ts';
import { defaultCertificateLifetime } from '#contract/agent-command.ts';
import { type LifetimeLimit, lifetimeLimit } from '#contract/certificate-lifetime.ts';
import { defaultNamespace } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { KubeObject } from '#contract/object.ts';
import { noReservations } from '#contract/reserved.ts';
import { writesTokenIds } from '#contract/token-id.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { windowsInstanceKind } from '#contract/windows-instance/resource.ts';
import { type CsrDecision, type CsrFacts, decideCsr, readCsr, subjectOf } from '#controllers/csr/decide.ts';
import { type Command, type Options, textOption } from '../command.ts';
import { missingObject, ofKind, readNodes } from '../find.ts';
import { errorData, table } from '../output.ts';

interface Verdict {
  csr: string;
  /** approve, refuse, ignore, wait, inspect, or unreadable. */
  decision: string;
  rule: string;
  why: string;
  error: AppError | undefined;
}

export const checkCsr: Command = {
  name: 'csr',
  summary: 'check whether certificate signing requests are approved, and by which rule',
  example: 'wmco check csr -f examples/csr.yaml',
  reads: 'CertificateSigningRequests, WindowsInstances with their status, and Nodes',
  options: ['namespace', 'serverVersion', 'agentCertificateLifetime'],
  run({ objects }, options) {
    const requests = ofKind(objects, 'CertificateSigningRequest');
    if (requests.length === 0) throw missingObject({ kind: 'CertificateSigningRequest', name: '<name>' });
    const { evidence, problems } = evidenceFrom(objects, options);
    const verdicts = requests.map(request => judge(request, evidence));
    const rows = verdicts.map(({ csr, decision, rule, why }) => [`  ${decision}`, csr, rule, why]);
    const data = verdicts.map(({ error, ...verdict }) => ({ ...verdict, ...(error && { error: errorData(error) }) }));
    return {
      output: { text: table(rows), data },
      findings: [...problems, ...verdicts.flatMap(({ error }) => error ?? [])],
    };
  },
};

type CsrInstance = NonNullable<CsrFacts['instance']>;

/** Facts that are the same for all requests. */
interface Evidence {
  operatorNamespace: string;
  /** With their status, which is the record of the operator. */
  instances: readonly CsrInstance[];
  nodes: readonly NodeView[];
  hasTokenIds: boolean;
  lifetime: LifetimeLimit;
}

function evidenceFrom(objects: readonly KubeObject[], options: Options): { evidence: Evidence; problems: AppError[] } {
  const { nodes, problems } = readNodes(objects);
  const read = ofKind(objects, windowsInstanceKind).map(object => attempt(() => readEvidence(object)));
  const instances = read.flatMap(result => (result.ok ? [result.value] : []));
  const operatorNamespace = textOption(options, 'namespace') ?? defaultNamespace;
  const version = textOption(options, 'serverVersion') ?? payloadKubeletVersion;
  const shared = { operatorNamespace, hasTokenIds: writesTokenIds(version), lifetime: lifetimeFrom(options, version) };
  const unreadable = read.flatMap(result => (result.ok ? [] : [result.error]));
  return { evidence: { ...shared, instances, nodes }, problems: [...problems, ...unreadable] };
}

function lifetimeFrom(options: Options, version: string): LifetimeLimit {
  const lifetime = textOption(options, 'agentCertificateLifetime') ?? defaultCertificateLifetime;
  if (parseGoDuration(lifetime) !== undefined) return lifetimeLimit(lifetime, version);
  throw new AppError('SETTING_INVALID', `--agent-certificate-lifetime is ${shown(lifetime)}, not a duration`, {
    remedy: 'Use the value that the operator has, such as 24h, or omit the flag.',
  });
}

/** The record in the status of a WindowsInstance. */
function readEvidence({ fields, label }: KubeObject): CsrInstance {
  const [spec, status] = [fields.object('spec'), fields.object('status')];
  const host = status.object('host');
  return {
    label,
    isMachine: spec.object('source').string('kind') === 'Machine',
    node: host.string('name') ?? status.string('node') ?? '',
    addresses: host.strings('addresses'),
    servingNames: spec.strings('servingNames'),
    tokens: status.objects('tokens').map(token => ({
      id: token.string('id') ?? '',
      use: token.string('use') === 'agent' ? 'agent' : 'kubelet',
    })),
    agentKeyHash: status.object('agent').string('keyHash'),
    cloudKeyHash: status.object('cloudNode').string('keyHash'),
    hasFormerAgent: false,
  };
}

function judge(request: KubeObject, evidence: Evidence): Verdict {
  const decided = attempt(() => decideCsr(factsOf(readCsr(request), evidence)));
  const csr = request.meta.name;
  if (!decided.ok) return { csr, decision: 'unreadable', rule: '', why: decided.error.message, error: decided.error };
  const decision = decided.value;
  return { csr, decision: decision.do, ...explain(decision), error: refusal(request, decision) };
}

function factsOf(csr: CsrFacts['csr'], { instances, nodes, ...shared }: Evidence): CsrFacts {
  const name = subjectOf(csr)?.node;
  const instance = instances.find(each => each.node === name);
  const node = nodes.find(each => each.name === name);
  return { ...shared, csr, instance, node, reserved: noReservations, taken: {}, ageMs: Number.POSITIVE_INFINITY };
}

function explain(decision: CsrDecision): { rule: string; why: string } {
  if (decision.do === 'approve') return { rule: decision.condition.reason, why: 'all rules are satisfied' };
  if (decision.do === 'refuse') return { rule: decision.rule, why: decision.why };
  if (decision.do === 'inspect') return { rule: decision.otherwise.rule, why: decision.why };
  return { rule: '', why: decision.why };
}

function refusal(request: KubeObject, decision: CsrDecision): AppError | undefined {
  const refused = decision.do === 'inspect' ? decision.otherwise : decision;
  if (refused.do !== 'refuse') return undefined;
  return new AppError('CSR_REFUSED', `${request.label}: ${refused.rule}: ${refused.why}`, {
    remedy: 'Find out who created the request; deny it if it is not from one of your hosts.',
  });
}
