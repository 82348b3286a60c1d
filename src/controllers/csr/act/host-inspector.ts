import type { Clock } from '#base/clock.ts';
import { AppError, isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { boundNode, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { agentCommands } from '#contract/agent-command.ts';
import { type Inventory, parseInventory } from '#contract/inventory.ts';
import { agentProgram } from '#contract/paths.ts';
import type { Connect } from '#host/host.ts';
import { ipv4Of, type Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Feed, Watch } from '#kube/controller/watches.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import { targetAt } from '#node/lifecycle/configure/connect.ts';
import { routeAddresses } from '#node/lifecycle/configure/identify.ts';
import { Slots } from '#base/waiting/slots.ts';
import type { HostInputSource } from '#node/lifecycle/deps.ts';
import type { PayloadSource } from '#node/payload-source.ts';
import { knownKey } from '#node/host-keys/host-key-annotation.ts';

export interface HostInspectorParts {
  connect: Connect;
  client: Client;
  inputs: Pick<HostInputSource, 'loadKeys'>;
  payload: Pick<PayloadSource, 'agent'>;
  resolver: Pick<Resolver, 'addresses'>;
  clock: Clock;
}

const limitMs = 90_000;
const [dialTimeoutMs, handshakeTimeoutMs, commandMs] = [5000, 10_000, 60_000];
/** A host is not read more often for the sake of a request. */
const pauseMs = 120_000;
const atOnce = 20;
const maxHosts = 4096;

/**
 * Reads the addresses of a host again over the pinned connection, when its kubelet asks for names that the record does not have, and
 * writes them to the record. Runs in the background: the change of the record has the request judged again.
 */
export class HostInspector implements Watch {
  readonly synced = Promise.resolve();
  readonly #parts: HostInspectorParts;
  readonly #waiting: (instance: WindowsInstance) => Iterable<Key>;
  readonly #slots = new Slots(atOnce);
  readonly #lastMs = new Map<string, number>();
  #run: { stop: AbortController; feed: Feed } | undefined;

  /** `waiting` are the requests that are judged again when a host was read, or could not be. */
  constructor(parts: HostInspectorParts, waiting: (instance: WindowsInstance) => Iterable<Key>) {
    this.#parts = parts;
    this.#waiting = waiting;
  }

  /** It works for as long as it is watched. */
  start(feed: Feed): () => void {
    const stop = new AbortController();
    this.#run = { stop, feed };
    return () => {
      this.#run = undefined;
      stop.abort(new Error('the controller stops'));
    };
  }

  relist(): Key[] {
    return [];
  }

  /** False when the host was read a short while ago. */
  request(instance: WindowsInstance, log: Log): boolean {
    if (this.#run === undefined) return false;
    const nowMs = this.#parts.clock.monotonicMs();
    const { uid = '' } = instance.metadata;
    if (nowMs - (this.#lastMs.get(uid) ?? -Infinity) < pauseMs) return false;
    this.#lastMs.delete(uid);
    this.#lastMs.set(uid, nowMs);
    for (const oldest of this.#lastMs.keys()) {
      if (this.#lastMs.size <= maxHosts) break;
      this.#lastMs.delete(oldest);
    }
    void this.#inspect(instance, log, this.#run.stop.signal);
    return true;
  }

  async #inspect(instance: WindowsInstance, log: Log, signal: AbortSignal): Promise<void> {
    const { address } = instance.spec;
    try {
      using _slot = await this.#slots.take(signal);
      const { inventory, ipv4 } = await this.#read(instance, signal);
      await this.#record(instance, inventory, ipv4, signal);
      log.info('Read the addresses of the host again', { address });
    } catch (error) {
      if (signal.aborted) return;
      log.info('Reading the host again failed', { address, error: isAppError(error) ? error.code : error });
    }
    for (const key of this.#waiting(instance)) this.#run?.feed(key, 'if there is room');
  }

  #read(instance: WindowsInstance, caller: AbortSignal): Promise<{ inventory: Inventory; ipv4: string }> {
    const { connect, inputs, payload, resolver, clock } = this.#parts;
    const { address, port, username = '' } = instance.spec;
    const error = () => unreadable(address, `no answer within ${limitMs / 1000} s`);
    return withDeadline({ clock, ms: limitMs, error, signal: caller }, async signal => {
      const pinnedKey = knownKey(instance);
      // The answer decides about a certificate, so only the host whose key is pinned is asked.
      if (pinnedKey === undefined) throw unreadable(address, 'its host key is not pinned yet');
      const ipv4 = await ipv4Of(address, resolver);
      if (ipv4 === undefined) throw unreadable(address, 'the name has no IPv4 address');
      const privateKeys = await inputs.loadKeys(instance, signal);
      const { sha256 } = await payload.agent();
      const target = targetAt(ipv4, port, { address, username, privateKeys, pinnedKey });
      await using host = await connect(target, { signal, dialTimeoutMs, handshakeTimeoutMs });
      const command = agentCommands(agentProgram(sha256)).inventory();
      const { exitCode, stdout } = await host.exec(command, { signal, timeoutMs: commandMs });
      if (exitCode !== 0) throw unreadable(address, `its agent ended with exit code ${exitCode}`);
      return { inventory: parseInventory(stdout, address), ipv4 };
    });
  }

  async #record(instance: WindowsInstance, inventory: Inventory, ipv4: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#parts;
    const name = boundNode(instance);
    if (name === undefined || inventory.nodeName !== name) {
      throw unreadable(instance.spec.address, `it is called ${inventory.nodeName}, not ${name}`);
    }
    const addresses = [...new Set([ipv4, ...routeAddresses(inventory)])];
    const change = (current: WindowsInstance): WindowsInstance =>
      current.metadata.uid === instance.metadata.uid && boundNode(current) === name
        ? { ...current, status: { ...current.status, host: { name, addresses } } }
        : current;
    await changeObject(client, windowsInstances, { key: keyOf(instance), change }, { signal });
  }
}

function unreadable(address: string, why: string): AppError {
  return new AppError('HOST_VALUE_UNKNOWN', `${address}: the addresses of the host cannot be read: ${why}`, {
    remedy: 'Let the operator reach the host by SSH, or add the names to spec.servingNames.',
  });
}
