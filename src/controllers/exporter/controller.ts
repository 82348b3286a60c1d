import { AppError } from '#base/errors.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { eventText } from '#contract/events.ts';
import { exporterService, namespaceName, secretName } from '#contract/names.ts';
import { objectLabel } from '#contract/object.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { after, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { atStart, watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { Informers } from '#kube/informer/informers.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { namespaces, type SecretObject, type Service, secrets, services } from '#kube/resources.ts';
import { decide, type ExporterDecision, type PairFacts } from './decide.ts';
import { newService, repairOf } from './desired.ts';
import { pairFacts, pairSecret } from './pair.ts';

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: '', resources: ['namespaces'], verbs: reading, names: [namespaceName.serviceCa] },
  { in: 'own namespace', group: '', resources: ['secrets'], verbs: reading, names: [secretName.tls] },
  { in: 'own namespace', group: '', resources: ['services'], verbs: ['create'] },
  {
    in: 'own namespace',
    group: '',
    resources: ['services'],
    verbs: [...reading, 'patch'],
    names: [exporterService.name],
  },
];

/** Certificates expire without a change of any object. */
const recheckMs = 6 * 3_600_000;
const refusedMs = 60_000;
/** A service CA issues a pair within seconds. */
const issueTimeoutMs = 60_000;

/**
 * Keeps the Service `windows-exporter`, for which a service CA issues the certificate of the exporters. In clusters without a service
 * CA it issues and renews the certificate itself.
 */
export function exporterController(parts: ControllerParts): Controller {
  const { namespace, recorder, clock } = parts;
  const key = { namespace, name: exporterService.name };
  const sources = informersFrom(parts.informers, namespace);
  const events = new EventDeduper({ recorder, clock });
  return new Controller({
    ...parts,
    name: 'exporter',
    watches: [
      // A missing Service triggers no watch.
      atStart(key),
      watching({ source: sources.service }),
      watching({ source: sources.secret, keys: () => [key] }),
      watching({ source: sources.serviceCa, keys: () => [key] }),
    ],
    reconcile: (_, pass) => reconcile(sources, { ...parts, events }, pass),
  });
}

type Sources = ReturnType<typeof informersFrom>;
type Parts = ControllerParts & { events: EventDeduper };

function informersFrom(informers: Informers, namespace: string) {
  const named = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  return {
    service: informers.get(services, { namespace, ...named(exporterService.name) }),
    secret: informers.get(secrets, { namespace, ...named(secretName.tls) }),
    // A service CA runs in this namespace. It has no API of its own, and waiting for its Secret would be a guess.
    serviceCa: informers.get(namespaces, named(namespaceName.serviceCa)),
  };
}

async function reconcile(sources: Sources, parts: Parts, pass: Pass): Promise<Outcome> {
  const { namespace, clock } = parts;
  const [service] = sources.service.store.list();
  const [secret] = sources.secret.store.list();
  const hasServiceCa = sources.serviceCa.store.list().length > 0;
  const pair = pairFacts(secret, namespace, clock.now());
  const decision = decide({ hasServiceCa, pair, nowMs: clock.now() });
  await ensureService(service, decision, parts, pass);
  const refusal = await ensurePair(secret, decision, parts, pass);
  const missing = hasServiceCa && pair.state === 'missing' ? notIssued(service, parts) : undefined;
  const problem = refusal ?? missing ?? problemOf(pair, decision);
  report(service, problem, parts, pass);
  if (refusal !== undefined) return after(refusedMs, 'the pair cannot be stored');
  const isWaiting = hasServiceCa && pair.state === 'missing';
  return isWaiting ? after(issueTimeoutMs, 'the service CA has not issued the pair') : after(recheckMs, 'expiry');
}

async function ensureService(
  service: Service | undefined,
  { asksServiceCa }: ExporterDecision,
  { client, namespace }: Parts,
  { log, signal }: Pass,
): Promise<void> {
  if (service?.metadata.deletionTimestamp !== undefined) return;
  if (service === undefined) {
    log.info('Creating Service of the exporters', { asksServiceCa });
    const made = newService(namespace, asksServiceCa);
    await client.create(services, made, { signal }).catch(unless(isAlreadyExists));
    return;
  }
  const body = repairOf(service, asksServiceCa);
  if (body === undefined) return;
  log.info('Repairing Service of the exporters', { asksServiceCa });
  const options = { namespace, signal };
  await client.patch(services, exporterService.name, { type: 'merge', body }, options).catch(unless(isNotFound));
}

/** Returns the error if the operator is not allowed to write the Secret. */
async function ensurePair(
  secret: SecretObject | undefined,
  { pair }: ExporterDecision,
  { client, namespace, clock }: Parts,
  { log, signal }: Pass,
): Promise<AppError | undefined> {
  if (pair === 'keep') return undefined;
  log.info('Changing TLS pair of the exporters', { what: pair });
  try {
    if (pair === 'delete') await deleteObject(client, secrets, secret ?? { metadata: {} }, signal);
    else if (pair === 'create') await client.create(secrets, pairSecret(undefined, namespace, clock.now()), { signal });
    else await client.replace(secrets, pairSecret(secret, namespace, clock.now()), { signal });
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return notStored(namespace, error);
    // Another client was faster; the watch triggers the next pass.
    if (!isAlreadyExists(error) && !isConflict(error) && !isNotFound(error)) throw error;
  }
  return undefined;
}

/** Problems of a pair that the operator does not replace. */
function problemOf(pair: PairFacts, decision: ExporterDecision): AppError | undefined {
  return pair.state === 'other' && decision.pair === 'keep' ? pair.problem : undefined;
}

/** Undefined while the service CA may still be at work. */
function notIssued(service: Service | undefined, { namespace, clock }: Parts): AppError | undefined {
  const { annotations = {}, creationTimestamp } = service?.metadata ?? {};
  const [reason] = exporterService.errorAnnotations.flatMap(name => annotations[name] ?? []);
  const ageMs = clock.now() - Date.parse(creationTimestamp ?? '');
  if (reason === undefined && !(ageMs >= issueTimeoutMs)) return undefined;
  const secret = objectLabel('Secret', { namespace, name: secretName.tls });
  const why = reason === undefined ? ` for ${issueTimeoutMs / 1000} s` : `: ${reason.slice(0, maxReason)}`;
  return new AppError('TLS_PAIR_NOT_ISSUED', `the service CA has not issued ${secret}${why}`, {
    remedy: `Check the service CA with \`oc get clusteroperator service-ca\` and \`oc get pods -n ${namespaceName.serviceCa}\`.`,
  });
}

const maxReason = 200;

function notStored(namespace: string, cause: ApiError): AppError {
  const secret = objectLabel('Secret', { namespace, name: secretName.tls });
  return new AppError('TLS_PAIR_NOT_STORED', `${secret}: the operator is not allowed to write it`, {
    remedy: 'Run `kubectl apply -f deploy/rbac/kubernetes.yaml`, or create the Secret yourself.',
    cause,
  });
}

function report(
  service: Service = { metadata: { name: exporterService.name } },
  problem: AppError | undefined,
  { namespace, events }: Parts,
  { log }: Pass,
): void {
  const object = referenceTo(services, { metadata: { ...service.metadata, namespace } });
  const texts = problem === undefined ? [] : [eventText.exporterCertificateUnusable(problem)];
  if (events.report(exporterService.name, [object], texts))
    log.warn('Certificate of the exporters is unusable', { error: problem });
}
