import { shown } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { LifetimeLimit } from '#contract/certificate-lifetime.ts';
import { signer } from '#contract/names.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { nextTurn } from '#kube/controller/turn.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Key } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests } from '#kube/resources.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { approve, isDecided } from './approve.ts';
import { isNews, recordEnd } from '../certificate-ends.ts';
import { fixNodeName } from './record.ts';
import { type ApprovedCondition, type CsrDecision, type CsrFacts, decideCsr, isForUs } from '../decide.ts';
import type { HostInspector, HostInspectorParts } from './host-inspector.ts';
import { evidenceOf } from '../evidence.ts';
import { type OpenRequests, requesterOf } from './open-requests.ts';
import { findInstance, freshInstance, freshNode, type NodeReader, takenNames } from '../observe.ts';
import type { Reading, Readings } from './readings.ts';
import { type CsrView, windowsNode } from '../rules.ts';

export interface CsrParts extends ControllerParts, HostInspectorParts {
  facts: Pick<FactsSource, 'read'>;
  /** Whether the API server writes ids of tokens on requests. */
  hasTokenIds: boolean;
  lifetime: LifetimeLimit;
  /** Between 0 and 1; spreads retries. */
  random: () => number;
}

export interface CsrStores {
  requests: StoreView<CertificateSigningRequest>;
  open: Pick<OpenRequests, 'isJudged' | 'limitPassed'>;
  readings: Readings;
  instances: StoreView<WindowsInstance>;
  nodes: NodeReader;
  inspector: HostInspector;
}

/** A request with everything that decides about it. */
interface ObservedRequest {
  csr: CsrView;
  subject: Reading['subject'];
  instance: WindowsInstance | undefined;
  facts: CsrFacts;
}

/** Changes of records and Nodes come by watches; this is for what the age of a request decides. */
const retryMs = 30_000;

/** Decides about one request and acts on it. A refused request stays pending: the operator never denies. */
export class Approver {
  readonly #parts: CsrParts;
  readonly #sources: CsrStores;
  readonly #events: EventDeduper;

  constructor(parts: CsrParts, sources: CsrStores) {
    this.#parts = parts;
    this.#sources = sources;
    this.#events = new EventDeduper(parts);
  }

  async reconcile(key: Key, pass: Pass): Promise<Outcome> {
    // Most passes wait for nothing, and there may be thousands of them in a row.
    await nextTurn();
    const request = this.#sources.requests.get(key);
    if (request === undefined) return done;
    if (isDecided(request)) return this.#recordEnd(request, pass);
    this.#holdCrowd(request, pass);
    if (!this.#sources.open.isJudged(request)) return done;
    const { csr, subject } = this.#sources.readings.read(request);
    if (!csr.ok) {
      const isOurs = isForUs(request.spec, this.#parts.namespace);
      return isOurs ? this.#refuse(request, eventText.csrRefused('request', csr.error.message), pass) : done;
    }
    const seen = this.#observe(request, csr.value, subject);
    return this.#act(request, seen, await this.#decide(seen, pass), pass);
  }

  #observe(request: CertificateSigningRequest, csr: CsrView, subject: ObservedRequest['subject']): ObservedRequest {
    const { nodes, instances } = this.#sources;
    const instance = subject && findInstance(subject.node, instances);
    const isServing = csr.signerName === signer.kubeletServing;
    const createdMs = Date.parse(request.metadata.creationTimestamp ?? '');
    const facts: CsrFacts = {
      csr,
      operatorNamespace: this.#parts.namespace,
      instance: instance && evidenceOf(instance, this.#parts.version),
      node: subject && nodes.get(subject.node),
      hasTokenIds: this.#parts.hasTokenIds,
      lifetime: this.#parts.lifetime,
      reserved: this.#parts.facts.read().facts?.reserved,
      taken: isServing && instance && subject ? takenNames(subject.names, instance, instances, nodes.list()) : {},
      ageMs: Number.isNaN(createdMs) ? 0 : this.#parts.clock.now() - createdMs,
    };
    return { csr, subject, instance, facts };
  }

  /**
   * What would be approved is decided once more, by Node and record as the server has them at that moment; what is refused for want
   * of its Node as well, because a kubelet asks right after it has made its Node.
   */
  async #decide({ facts, subject, instance }: ObservedRequest, { signal }: Pass): Promise<CsrDecision> {
    const decision = decideCsr(facts);
    const mayBeOld = decision.do === 'approve' || (decision.do === 'refuse' && decision.rule === windowsNode.name);
    if (!mayBeOld || subject === undefined) return decision;
    const { client } = this.#parts;
    const [node, fresh] = await Promise.all([
      freshNode(subject.node, client, signal),
      instance && freshInstance(instance, client, signal),
    ]);
    return decideCsr({ ...facts, node, instance: fresh && evidenceOf(fresh, this.#parts.version) });
  }

  async #act(
    request: CertificateSigningRequest,
    seen: ObservedRequest,
    decision: CsrDecision,
    pass: Pass,
  ): Promise<Outcome> {
    if (decision.do === 'refuse') return this.#refuse(request, decision.event, pass);
    this.#hold(request, []);
    switch (decision.do) {
      case 'approve':
        return this.#approve(request, seen, decision.condition, pass);
      case 'inspect':
        if (seen.instance && this.#sources.inspector.request(seen.instance, pass.log)) {
          return after(retryMs, decision.why);
        }
        return this.#refuse(request, decision.otherwise.event, pass);
      case 'wait':
        return after(retryMs, decision.why);
      case 'ignore':
        pass.log.debug('Ignoring CSR', { why: decision.why });
        return done;
      default:
        return decision satisfies never;
    }
  }

  async #approve(
    request: CertificateSigningRequest,
    { csr, subject, instance }: ObservedRequest,
    condition: ApprovedCondition,
    pass: Pass,
  ): Promise<Outcome> {
    if (csr.signerName === signer.kubeletClient && instance && subject) {
      const isFixed = await fixNodeName(instance, subject.node, this.#parts.client, pass.signal);
      if (!isFixed) return after(retryMs, 'the record of the host has changed');
    }
    pass.log.info('Approving CSR', { reason: condition.reason, username: request.spec.username });
    const isOurs = await approve(request, condition, { ...this.#parts, signal: pass.signal });
    if (!isOurs) pass.log.info('CSR is already approved/denied');
    return done;
  }

  async #recordEnd(request: CertificateSigningRequest, pass: Pass): Promise<Outcome> {
    const issued = this.#sources.readings.issued(request);
    const instance = issued && findInstance(issued.node, this.#sources.instances);
    if (issued === undefined || instance === undefined || !isNews(instance.status?.[issued.member], issued))
      return done;
    await recordEnd(instance, issued, this.#parts.client, pass.signal);
    return done;
  }

  #refuse(request: CertificateSigningRequest, event: EventText, pass: Pass): Outcome {
    // Of a crowd is said that it is one, and no more.
    const isOfMany = this.#sources.open.limitPassed(request) !== undefined;
    const isNew = this.#hold(request, isOfMany ? [] : [event]);
    pass.log[isNew ? 'info' : 'debug']('Refusing CSR', { why: event.message });
    return done;
  }

  /** Says once that somebody has more undecided requests than are judged at a time. */
  #holdCrowd(request: CertificateSigningRequest, pass: Pass): void {
    const limit = this.#sources.open.limitPassed(request);
    const isSaid = limit !== undefined && isForUs(request.spec, this.#parts.namespace);
    const username = shown(request.spec.username ?? '');
    const events = isSaid ? [eventText.csrCrowd(username, limit)] : [];
    const subject = `requester ${requesterOf(request)}`;
    const isNew = this.#events.report(subject, referenceTo(certificateSigningRequests, request), events);
    if (isNew) pass.log.warn('Judging only some CSRs of one requester', { username, limit });
  }

  #hold(request: CertificateSigningRequest, events: EventText[]): boolean {
    return this.#events.report(request.metadata.uid ?? '', referenceTo(certificateSigningRequests, request), events);
  }
}
