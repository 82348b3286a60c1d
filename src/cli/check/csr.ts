import { AppError, attempt } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { parseEntries } from '#contract/instances.ts';
import { configMapName, defaultNamespace } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { type CsrDecision, type CsrFacts, decideCsr, readCsr } from '#controllers/csr/decide.ts';
import { type Command, type Options, textOption } from '../command.ts';
import { find, missing, ofKind, readNodes, textData } from '../find.ts';
import { errorData, table } from '../output.ts';
import { pairs } from '../pairs.ts';

interface Verdict {
  csr: string;
  /** approve, refuse, ignore, ask, or unreadable. */
  decision: string;
  rule: string;
  why: string;
  error: AppError | undefined;
}

export const checkCsr: Command = {
  name: 'csr',
  summary: 'certificate signing requests: approved or not, and by which rule',
  example: 'wmco check csr -f examples/csr.yaml --host-name win1.winc.example.com=win1',
  reads: `CertificateSigningRequests, ConfigMap ${configMapName.instances} and Nodes`,
  options: ['namespace', 'ptr', 'hostName'],
  run({ objects }, options) {
    const requests = ofKind(objects, 'CertificateSigningRequest');
    if (requests.length === 0) throw missing({ kind: 'CertificateSigningRequest', name: '<name>' });
    const { facts, problems } = factsFrom(objects, options);
    const verdicts = requests.map(request => judge(request, facts));
    const rows = verdicts.map(({ csr, decision, rule, why }) => [`  ${decision}`, csr, rule, why]);
    const data = verdicts.map(({ error, ...verdict }) => ({ ...verdict, ...(error && { error: errorData(error) }) }));
    return {
      shown: { text: table(rows), data },
      findings: [...problems, ...verdicts.flatMap(({ error }) => error ?? [])],
    };
  },
};

type Facts = Omit<CsrFacts, 'csr'>;

/** Entries that cannot be used are left out, as the operator leaves them out; `wmco check instances` tells about them. */
function factsFrom(objects: readonly KubeObject[], options: Options): { facts: Facts; problems: AppError[] } {
  const configMap = find(objects, { kind: 'ConfigMap', name: configMapName.instances });
  const names = Object.entries(pairs(options['ptr'], '--ptr')).map(([address, name]) => [address, [name]] as const);
  const { nodes, problems } = readNodes(objects);
  const facts: Facts = {
    operatorNamespace: textOption(options, 'namespace') ?? defaultNamespace,
    instances: parseEntries(configMap === undefined ? {} : textData(configMap).data)
      .filter(entry => entry.ok)
      .map(({ address }) => ({ address, ipv4: isIpv4(address) ? address : undefined })),
    nodes,
    ptrAnswers: Object.fromEntries(names),
    hostNames: pairs(options['hostName'], '--host-name'),
  };
  return { facts, problems };
}

function judge(request: KubeObject, facts: Facts): Verdict {
  const decided = attempt(() => decideCsr({ ...facts, csr: readCsr(request) }));
  const csr = request.meta.name;
  if (!decided.ok) return { csr, decision: 'unreadable', rule: '', why: decided.error.message, error: decided.error };
  const decision = decided.value;
  return { csr, decision: decision.do, ...explain(decision), error: refusal(request, decision) };
}

function explain(decision: CsrDecision): { rule: string; why: string } {
  if (decision.do === 'approve') return { rule: decision.condition.reason, why: 'all rules hold' };
  if (decision.do === 'refuse') return { rule: decision.rule, why: decision.why };
  if (decision.do === 'ignore') return { rule: '', why: decision.why };
  return { rule: '', why: `all else is fine; these hosts must tell their name: ${decision.addresses.join(', ')}` };
}

function refusal(request: KubeObject, decision: CsrDecision): AppError | undefined {
  if (decision.do !== 'refuse') return undefined;
  return new AppError('CSR_REFUSED', `${request.label}: ${decision.rule}: ${decision.why}`, {
    remedy: 'Find out who made the request; deny it if it is not one of your hosts.',
  });
}
