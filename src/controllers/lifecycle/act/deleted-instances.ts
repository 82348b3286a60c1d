import { type Clock, timestamp } from '#base/clock.ts';
import { isNodeName } from '#base/dns-name.ts';
import { attempt } from '#base/errors.ts';
import { isIp } from '#base/ipv4.ts';
import { Fields, jsonIn } from '#base/fields.ts';
import type { Log } from '#base/log.ts';
import type { Installation } from '#cluster/installation.ts';
import { hasTouchedHost, isRemovalRequested, successorOf } from '#cluster/instance-removal.ts';
import { sourceOf } from '#cluster/instance-source.ts';
import { patchStatus } from '#cluster/patch-instance.ts';
import { boundNode, byNode, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceIdentity, InstanceRecord, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { isAlreadyExists, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { type Key, keyOf, keyText } from '#kube/resource.ts';
import { foreignNode } from '#node/lifecycle/configure/name-check.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import { removeAgent } from '#node/lifecycle/remove/host-steps.ts';
import { removalCause } from './removal-cluster.ts';

export interface DeletedOptions {
  client: Client;
  installation: Pick<Installation, 'problem'>;
  clock: Clock;
  log: Log;
}

/** Deletions that no pass has handled, as in a process that does not lead. */
const maxDeleted = 1000;
/** How often and how long a deletion is retried while the installation of the operator does not allow a removal. */
const [retryMs, forgetMs] = [30_000, 10 * 60_000];

/**
 * Instances that a user deleted and whose hosts have to be cleaned. They are created again with a request to remove the host, so that
 * the removal survives a restart of the operator without a finalizer.
 */
export class DeletedInstances {
  readonly #instances: Pick<Informer<WindowsInstance>, 'store' | 'addHandler'>;
  readonly #options: DeletedOptions;
  readonly #deleted = new Map<string, { instance: WindowsInstance; untilMs: number }>();
  /** UIDs of instances that the operator deletes itself. */
  readonly #own = new Set<string>();

  constructor(instances: Pick<Informer<WindowsInstance>, 'store' | 'addHandler'>, options: DeletedOptions) {
    this.#instances = instances;
    this.#options = options;
    instances.addHandler({
      added: instance => this.#deleted.delete(keyText(keyOf(instance))),
      updated: (_old, now) => {
        // A removal that was canceled after all.
        if (!isRemovalRequested(now)) this.#own.delete(now.metadata.uid ?? '');
      },
      deleted: instance => this.#remember(instance),
    });
  }

  /** The operator is about to delete the instance, because its host is removed. */
  expect({ metadata }: WindowsInstance): void {
    this.#own.add(metadata.uid ?? '');
  }

  /** Creates the instance of the key again if its host has to be cleaned. */
  async recreate(key: Key, { signal, log }: Pass): Promise<Outcome> {
    const { instance: deleted, untilMs = 0 } = this.#deleted.get(keyText(key)) ?? {};
    if (deleted === undefined) return done;
    const { client, installation, clock } = this.#options;
    const named = this.#instances.store.byIndex(byNode, boundNode(deleted) ?? '');
    const hasSuccessor = successorOf(deleted, named) !== undefined;
    const problem = hasSuccessor ? 'another instance has its host' : await installation.problem(signal, deleted);
    if (problem !== undefined) {
      log.info('Leaving host of a deleted WindowsInstance unchanged', { why: problem });
      // The API server may only be busy.
      if (clock.monotonicMs() < untilMs) return after(retryMs, problem);
    } else {
      log.info('Creating WindowsInstance again to remove its host', { address: deleted.spec.address });
      const again = removalOf(deleted, timestamp(clock.now()));
      // A user who was faster keeps the host.
      await client.create(windowsInstances, again, { signal }).catch(unless(isAlreadyExists));
    }
    this.#deleted.delete(keyText(key));
    return done;
  }

  #remember(instance: WindowsInstance): void {
    const isOwn = this.#own.delete(instance.metadata.uid ?? '');
    if (isOwn || !needsRemoval(instance)) return;
    const nowMs = this.#options.clock.monotonicMs();
    for (const [key, { untilMs }] of this.#deleted) if (untilMs <= nowMs) this.#deleted.delete(key);
    if (this.#deleted.size >= maxDeleted) return;
    this.#deleted.set(keyText(keyOf(instance)), { instance, untilMs: nowMs + forgetMs });
  }
}

/** An instance with a source is created again by its source, unless its host is being removed. */
function needsRemoval(instance: WindowsInstance): boolean {
  const { status = {} } = instance;
  const source = sourceOf(instance);
  if (!hasTouchedHost(instance) || source?.kind === 'Machine' || isCleaned(status)) return false;
  return source === undefined || isRemovalRequested(instance);
}

/** Its removal has reached the host's last step; another leader deletes the objects. */
function isCleaned({ journey, timeline = [] }: WindowsInstanceStatus): boolean {
  const last = timeline.find(({ name }) => name === removeAgent.name);
  return journey?.name === 'remove' && last?.finished !== undefined;
}

/** Written by `kubectl apply`. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

function removalOf({ metadata, spec, status = {} }: WindowsInstance, now: string): WindowsInstance {
  const { name = '', namespace = '', labels } = metadata;
  const { [lastApplied]: _applied, ...annotations } = metadata.annotations ?? {};
  const { nodeUID, hostKey, host, certifiedName, agent, cloudNode } = status;
  const record: { [Field in keyof InstanceRecord]: InstanceRecord[Field] | undefined } = {
    nodeUID,
    hostKey,
    host,
    certifiedName,
    agent,
    cloudNode,
  };
  const requested = {
    [instanceAnnotation.removal]: annotations[instanceAnnotation.removal] ?? now,
    ...(host && { [instanceAnnotation.record]: JSON.stringify(record) }),
  };
  return {
    metadata: { name, namespace, ...(labels && { labels }), annotations: { ...annotations, ...requested } },
    spec: { ...spec, ...(hostKey !== undefined && { hostKey }) },
  };
}

interface RestoreDeps {
  client: Client;
  deps: Pick<LifecycleDeps, 'names' | 'nodes'>;
}

/** Users can write the annotation: it must not be about the Node of another host. */
function isOfOther(name: string, instance: WindowsInstance, { names, nodes }: RestoreDeps['deps']): boolean {
  const node = nodes.get(name);
  const { hostKey = '', address } = instance.spec;
  const isForeign = node !== undefined && foreignNode(node, hostKey.split(' ')[1] ?? '', address) !== undefined;
  return isForeign || names.holderOf(name, instance) !== undefined;
}

/** A user who applies a deleted instance again wants to keep the host. */
export async function cancelIfApplied(
  { metadata }: WindowsInstance,
  client: Client,
  { signal, log }: Pass,
): Promise<Outcome | undefined> {
  const { name = '', namespace = '', annotations = {} } = metadata;
  const { removal, record, forceRemoval } = instanceAnnotation;
  if (![record, removal, lastApplied].every(key => Object.hasOwn(annotations, key))) return undefined;
  log.info('Canceling removal: the WindowsInstance was applied again');
  const body = { metadata: { annotations: { [removal]: null, [record]: null, [forceRemoval]: null } } };
  await client.patch(windowsInstances, name, { type: 'merge', body }, { namespace, signal }).catch(unless(isNotFound));
  return after(lagMs, 'the removal was canceled');
}

/** Writes the record in the annotation of a new instance to its status; other instances stay unchanged. */
export async function restoreRecord(
  instance: WindowsInstance,
  { client, deps }: RestoreDeps,
  { signal, log }: Pass,
): Promise<Outcome | undefined> {
  const text = instance.metadata.annotations?.[instanceAnnotation.record];
  if (text === undefined || instance.status?.host !== undefined || removalCause(instance) === undefined)
    return undefined;
  const record = parseRecord(text, instance.spec.hostKey);
  if (record?.host === undefined || isOfOther(record.host.name, instance, deps)) {
    log.warn('Ignoring annotation with an invalid record', { annotation: instanceAnnotation.record });
    return undefined;
  }
  await patchStatus(instance, ({ status = {} }) => (status.host ? undefined : { ...status, ...record }), {
    client,
    signal,
  });
  return after(lagMs, 'the record was restored');
}

const lagMs = 1000;
/** A record has a few hundred characters. */
const maxCharacters = 16_384;
const maxAddresses = 16;

/** Users can write the annotation: undefined unless every field has its type and the key is the pinned one. */
export function parseRecord(text: string, pinnedKey: string | undefined): InstanceRecord | undefined {
  if (text.length > maxCharacters) return undefined;
  const read = attempt(() => {
    const fields = new Fields(jsonIn(text), 'record');
    const host = fields.object('host');
    const name = host.requiredString('name');
    const addresses = host.strings('addresses').filter(isIp).slice(0, maxAddresses);
    if (!isNodeName(name)) return undefined;
    const [nodeUID, certifiedName] = [fields.string('nodeUID'), fields.string('certifiedName')];
    const [agent, cloudNode] = [identityIn(fields.object('agent')), identityIn(fields.object('cloudNode'))];
    return {
      hostKey: fields.requiredString('hostKey'),
      host: { name, addresses },
      ...(nodeUID !== undefined && { nodeUID }),
      ...(certifiedName !== undefined && { certifiedName }),
      ...(agent && { agent }),
      ...(cloudNode && { cloudNode }),
    };
  });
  return read.ok && read.value?.hostKey === pinnedKey ? read.value : undefined;
}

function identityIn(fields: Fields): InstanceIdentity | undefined {
  if (fields.names().length === 0) return undefined;
  const certificateEnds = fields.string('certificateEnds');
  return {
    keyHash: fields.requiredString('keyHash'),
    installed: fields.requiredString('installed'),
    ...(certificateEnds !== undefined && { certificateEnds }),
  };
}
