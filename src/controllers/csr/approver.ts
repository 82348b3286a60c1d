import { attempt } from '#base/errors.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { type EventText, eventText } from '#contract/events.ts';
import { readObject } from '#contract/object.ts';
import type { Resolver } from '#host/resolver.ts';
import type { HeardNames } from '#node/lifecycle/heard-names.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Key } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests } from '#kube/resources.ts';
import type { ControllerParts } from '../parts.ts';
import { Remarks } from '../sources/remarks.ts';
import { approve, isDecided } from './approve.ts';
import type { AskHostParts } from './ask-host.ts';
import {
  type ApprovedCondition,
  type CsrDecision,
  type CsrFacts,
  decideCsr,
  isForUs,
  readCsr,
  subjectOf,
} from './decide.ts';
import type { HostNames, HostNamesLimits } from './host-names.ts';
import {
  type CsrInstance,
  type NodeReader,
  nodeOfInstance,
  observeInstances,
  observeNames,
  observeTokenHolders,
  withNodeNow,
} from './observe.ts';
import type { CsrView } from './rules.ts';

export interface CsrParts extends ControllerParts, AskHostParts {
  resolver: Resolver;
  limits?: Partial<HostNamesLimits>;
  /** Hosts that are being set up have told their names already. */
  heardNames?: Pick<HeardNames, 'onName'>;
  /** Between 0 and 1; spreads retries. */
  random: () => number;
}

export interface CsrSources {
  requests: StoreView<CertificateSigningRequest>;
  instances: StoreView<InstanceObject>;
  nodes: NodeReader;
  hostNames: HostNames;
}

/** A request with everything that decides about it. */
interface Seen {
  request: CertificateSigningRequest;
  facts: CsrFacts;
  instances: readonly CsrInstance[];
}

/** What changes is told; this is for answers of hosts and name servers that have grown old. */
const lookAgainMs = 60_000;
const askAgainMs = 15_000;

/** Looks at one request, decides, and does what was decided. A refused request stays pending: nobody but its owner may end it. */
export class Approver {
  readonly #parts: CsrParts;
  readonly #sources: CsrSources;
  readonly #remarks: Remarks;

  constructor(parts: CsrParts, sources: CsrSources) {
    this.#parts = parts;
    this.#sources = sources;
    this.#remarks = new Remarks(parts);
  }

  async reconcile(key: Key, pass: Pass): Promise<Outcome> {
    const request = this.#sources.requests.get(key);
    if (request === undefined || isDecided(request)) return done;
    const read = attempt(() => readCsr(readObject(request)));
    if (!read.ok) {
      const isOurs = isForUs(request.spec, this.#parts.namespace);
      return isOurs ? this.#refuse(request, eventText.csrRefused('request', read.error.message), pass) : done;
    }
    const seen = await this.#look(request, read.value);
    return this.#act(seen, await this.#decide(seen.facts, pass), pass);
  }

  async #look(request: CertificateSigningRequest, csr: CsrView): Promise<Seen> {
    const { hostNames, nodes } = this.#sources;
    const { resolver, clock, namespace } = this.#parts;
    const instances = await observeInstances(this.#sources.instances, resolver, clock);
    const facts: CsrFacts = {
      csr,
      operatorNamespace: namespace,
      instances,
      nodes: nodes.list(),
      tokenHolders: observeTokenHolders(this.#sources.instances),
      ptrAnswers: {},
      hostNames: Object.fromEntries(instances.map(({ address, object }) => [address, hostNames.known(object)])),
    };
    return { request, facts, instances };
  }

  /** Without DNS where its names cannot matter, and with the Node as the server has it where something is done for good. */
  async #decide(facts: CsrFacts, { signal }: Pass): Promise<CsrDecision> {
    const { resolver, client, clock } = this.#parts;
    const subject = subjectOf(facts.csr);
    const first = decideCsr(facts);
    if (isOpen(first) && subject?.isNewKubelet !== true) return first;
    const named = isOpen(first)
      ? { ...facts, ptrAnswers: await observeNames(facts.instances, resolver, clock) }
      : facts;
    const second = decideCsr(named);
    if (isOpen(second) || subject === undefined) return second;
    return decideCsr({ ...named, nodes: await withNodeNow(facts.nodes, subject.node, client, signal) });
  }

  async #act({ request, facts, instances }: Seen, decision: CsrDecision, pass: Pass): Promise<Outcome> {
    if (decision.do === 'refuse') return this.#refuse(request, decision.event, pass);
    this.#hold(request, []);
    switch (decision.do) {
      case 'approve':
        return this.#approve(request, decision.condition, pass);
      case 'ask':
        for (const instance of instances.filter(({ address }) => decision.addresses.includes(address))) {
          this.#sources.hostNames.wonder(instance.object, nodeOfInstance(instance, facts.nodes));
        }
        return after(askAgainMs, `${decision.addresses.join(', ')} have yet to tell their names`);
      case 'ignore':
        pass.log.debug('Ignoring CSR', { why: decision.why });
        return subjectOf(facts.csr)?.isNewKubelet === true ? after(lookAgainMs, decision.why) : done;
      default:
        return decision satisfies never;
    }
  }

  async #approve(request: CertificateSigningRequest, condition: ApprovedCondition, pass: Pass): Promise<Outcome> {
    pass.log.info('Approving CSR', { reason: condition.reason, username: request.spec.username });
    const isOurs = await approve(request, condition, { ...this.#parts, signal: pass.signal });
    if (!isOurs) pass.log.info('CSR is already approved/denied');
    return done;
  }

  #refuse(request: CertificateSigningRequest, event: EventText, pass: Pass): Outcome {
    const isNews = this.#hold(request, [event]);
    pass.log[isNews ? 'info' : 'debug']('Refusing CSR', { why: event.message });
    return done;
  }

  #hold(request: CertificateSigningRequest, events: EventText[]): boolean {
    return this.#remarks.hold(request.metadata.uid ?? '', referenceTo(certificateSigningRequests, request), events);
  }
}

/** Nothing is settled for good yet: more knowledge may change it. */
function isOpen({ do: what }: CsrDecision): boolean {
  return what === 'ignore' || what === 'ask';
}
