import { shown } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EventText, eventText } from '#contract/events.ts';
import type { LifetimeLimit } from '#contract/certificate-lifetime.ts';
import { signer } from '#contract/names.ts';
import { readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { yieldToEventLoop } from '#kube/controller/turn.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Key } from '#kube/resource.ts';
import { type CertificateSigningRequest, certificateSigningRequests, nodes } from '#kube/resources.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { getFresh } from '#cluster/patch-instance.ts';
import type { NodeReader } from '#node/node-reader.ts';
import { approve, isDecided } from './approve.ts';
import { isNewEnd } from '../certificate-ends.ts';
import { recordCertifiedName, recordEnd } from './record.ts';
import { type ApprovedCondition, type CsrDecision, type CsrFacts, decideCsr, isForUs } from '../decide.ts';
import type { HostInspector, HostInspectorParts } from './host-inspector.ts';
import { evidenceOf } from '../evidence.ts';
import { type OpenRequests, requesterOf } from './open-requests.ts';
import { findInstance, isEligible, takenNames } from '../observe.ts';
import type { Reading, Readings } from './readings.ts';
import type { CsrView } from '../case.ts';
import { windowsNode } from '../rules.ts';

export interface CsrParts extends ControllerParts, HostInspectorParts {
  facts: Pick<FactsSource, 'read'>;
  /** Whether the API server writes token ids on requests. */
  hasTokenIds: boolean;
  lifetime: LifetimeLimit;
  /** From 0 to 1; spreads retries. */
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

/** A request with everything that the decision depends on. */
interface ObservedRequest {
  csr: CsrView;
  subject: Reading['subject'];
  instance: WindowsInstance | undefined;
  facts: CsrFacts;
}

/** Watches report changes of records and Nodes; this is for decisions that depend on the age of a request. */
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
    // Most passes are synchronous, and thousands in a row would block the event loop.
    await yieldToEventLoop();
    const request = this.#sources.requests.get(key);
    if (request === undefined) return done;
    if (isDecided(request)) return this.#recordEnd(request, pass);
    this.#reportCrowd(request, pass);
    if (!this.#sources.open.isJudged(request)) return done;
    const { csr, subject } = this.#sources.readings.read(request);
    if (!csr.ok) {
      const isOurs = isForUs(request.spec, this.#parts.namespace);
      return isOurs ? this.#refuse(request, eventText.csrRefused('request', csr.error.message), pass) : done;
    }
    const observed = this.#observe(request, csr.value, subject);
    return this.#act(request, observed, await this.#decide(observed, pass), pass);
  }

  #observe(request: CertificateSigningRequest, csr: CsrView, subject: ObservedRequest['subject']): ObservedRequest {
    const { nodes: cachedNodes, instances } = this.#sources;
    const instance = subject && findInstance(subject.node, instances);
    const isServing = csr.signerName === signer.kubeletServing;
    const createdMs = Date.parse(request.metadata.creationTimestamp ?? '');
    const facts: CsrFacts = {
      csr,
      operatorNamespace: this.#parts.namespace,
      instance: instance && evidenceOf(instance, this.#parts.version),
      node: subject && cachedNodes.get(subject.node),
      hasTokenIds: this.#parts.hasTokenIds,
      lifetime: this.#parts.lifetime,
      reserved: this.#parts.facts.read().facts?.reserved,
      taken: isServing && instance && subject ? takenNames(subject.names, instance, instances, cachedNodes) : {},
      ageMs: Number.isNaN(createdMs) ? 0 : this.#parts.clock.now() - createdMs,
    };
    return { csr, subject, instance, facts };
  }

  /**
   * An approval is decided again with Node and record read past the cache. So is a refusal because of a missing Node: a kubelet sends
   * its request right after it has registered.
   */
  async #decide({ facts, subject, instance }: ObservedRequest, { signal }: Pass): Promise<CsrDecision> {
    const decision = decideCsr(facts);
    const mayBeStale = decision.do === 'approve' || (decision.do === 'refuse' && decision.rule === windowsNode.name);
    if (!mayBeStale || subject === undefined) return decision;
    const { client } = this.#parts;
    const [node, fresh] = await Promise.all([
      client.find(nodes, subject.node, { signal }),
      instance && getFresh(instance, client, { signal }),
    ]);
    return decideCsr({
      ...facts,
      node: node && readNode(readObject(node)),
      instance: fresh && isEligible(fresh) ? evidenceOf(fresh, this.#parts.version) : undefined,
    });
  }

  async #act(
    request: CertificateSigningRequest,
    observed: ObservedRequest,
    decision: CsrDecision,
    pass: Pass,
  ): Promise<Outcome> {
    if (decision.do === 'refuse') return this.#refuse(request, decision.event, pass);
    this.#report(request, []);
    switch (decision.do) {
      case 'approve':
        return this.#approve(request, observed, decision.condition, pass);
      case 'inspect':
        if (observed.instance && this.#sources.inspector.request(observed.instance, pass.log)) {
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
      const isRecorded = await recordCertifiedName(instance, subject.node, this.#parts.client, pass.signal);
      if (!isRecorded) return after(retryMs, 'the record of the host has changed');
    }
    pass.log.info('Approving CSR', { reason: condition.reason, username: request.spec.username });
    const isApproved = await approve(request, condition, { ...this.#parts, signal: pass.signal });
    if (!isApproved) pass.log.info('CSR is already approved/denied');
    return done;
  }

  async #recordEnd(request: CertificateSigningRequest, pass: Pass): Promise<Outcome> {
    const issued = this.#sources.readings.issued(request);
    const instance = issued && findInstance(issued.node, this.#sources.instances);
    if (issued === undefined || instance === undefined || !isNewEnd(instance.status?.[issued.member], issued))
      return done;
    await recordEnd(instance, issued, this.#parts.client, pass.signal);
    return done;
  }

  #refuse(request: CertificateSigningRequest, event: EventText, pass: Pass): Outcome {
    // A requester over the limit gets one event for all its requests.
    const isOfMany = this.#sources.open.limitPassed(request) !== undefined;
    const isNew = this.#report(request, isOfMany ? [] : [event]);
    pass.log[isNew ? 'info' : 'debug']('Refusing CSR', { why: event.message });
    return done;
  }

  /** Reports once that a requester has more pending requests than are judged at a time. */
  #reportCrowd(request: CertificateSigningRequest, pass: Pass): void {
    const limit = this.#sources.open.limitPassed(request);
    const isReported = limit !== undefined && isForUs(request.spec, this.#parts.namespace);
    const username = shown(request.spec.username ?? '');
    const events = isReported ? [eventText.csrCrowd(username, limit)] : [];
    const subject = `requester ${requesterOf(request)}`;
    const isNew = this.#events.report(subject, [referenceTo(certificateSigningRequests, request)], events);
    if (isNew) pass.log.warn('Judging only some CSRs of one requester', { username, limit });
  }

  #report(request: CertificateSigningRequest, events: EventText[]): boolean {
    return this.#events.report(request.metadata.uid ?? '', [referenceTo(certificateSigningRequests, request)], events);
  }
}
