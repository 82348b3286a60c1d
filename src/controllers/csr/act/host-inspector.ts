import type { Clock } from '#base/clock.ts';
import { AppError, isAppError } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { setRecent } from '#base/recent-map.ts';
import { patchStatus } from '#cluster/patch-instance.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { agentCommands } from '#contract/agent-command.ts';
import { type Inventory, parseInventory } from '#contract/inventory.ts';
import { agentProgram } from '#contract/paths.ts';
import type { Connect } from '#host/host.ts';
import { ipv4Of, type Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Enqueue, Watch } from '#kube/controller/watches.ts';
import type { Key } from '#kube/resource.ts';
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
/** Requests make the operator read a host at most this often. */
const pauseMs = 120_000;
const maxConcurrent = 20;
const maxHosts = 4096;

/**
 * Reads the addresses of a host again over the pinned connection when its kubelet requests names that are not recorded, and records
 * them. Runs in the background: the changed record makes the controller decide about the request again.
 */
export class HostInspector implements Watch {
  readonly synced = Promise.resolve();
  readonly #parts: HostInspectorParts;
  readonly #waiting: (instance: WindowsInstance) => Iterable<Key>;
  readonly #slots = new Slots(maxConcurrent);
  readonly #lastMs = new Map<string, number>();
  #run: { stop: AbortController; enqueue: Enqueue } | undefined;

  /** `waiting` returns the requests to decide about again after a host was read, or reading it failed. */
  constructor(parts: HostInspectorParts, waiting: (instance: WindowsInstance) => Iterable<Key>) {
    this.#parts = parts;
    this.#waiting = waiting;
  }

  start(enqueue: Enqueue): () => void {
    const stop = new AbortController();
    this.#run = { stop, enqueue };
    return () => {
      this.#run = undefined;
      stop.abort(new Error('controller stopped'));
    };
  }

  relist(): Key[] {
    return [];
  }

  /** Starts reading the host; false when it was read recently. */
  request(instance: WindowsInstance, log: Log): boolean {
    if (this.#run === undefined) return false;
    const nowMs = this.#parts.clock.monotonicMs();
    const { uid = '' } = instance.metadata;
    if (nowMs - (this.#lastMs.get(uid) ?? -Infinity) < pauseMs) return false;
    setRecent(this.#lastMs, uid, nowMs, maxHosts);
    void this.#inspect(instance, log, this.#run.stop.signal);
    return true;
  }

  async #inspect(instance: WindowsInstance, log: Log, signal: AbortSignal): Promise<void> {
    const { address } = instance.spec;
    try {
      using _slot = await this.#slots.take(signal);
      const { inventory, ipv4 } = await this.#read(instance, signal);
      await this.#record(instance, inventory, ipv4, signal);
      log.info('Read addresses of host', { address });
    } catch (error) {
      if (signal.aborted) return;
      log.info('Reading addresses of host failed', { address, error: isAppError(error) ? error.code : error });
    }
    for (const key of this.#waiting(instance)) this.#run?.enqueue(key, 'if there is room');
  }

  #read(instance: WindowsInstance, caller: AbortSignal): Promise<{ inventory: Inventory; ipv4: string }> {
    const { connect, inputs, payload, resolver, clock } = this.#parts;
    const { address, port, username } = instance.spec;
    const error = () => unreadable(address, `no answer within ${limitMs / 1000} s`);
    return withDeadline({ clock, ms: limitMs, error, signal: caller }, async signal => {
      const pinnedKey = knownKey(instance);
      // The answer decides about a certificate, so it must come from the host with the pinned key.
      if (pinnedKey === undefined) throw unreadable(address, 'its SSH host key is not pinned yet');
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
      throw unreadable(instance.spec.address, `its node name is ${inventory.nodeName}, not ${name}`);
    }
    const addresses = [...new Set([ipv4, ...routeAddresses(inventory)])];
    const change = (current: WindowsInstance) =>
      boundNode(current) === name ? { ...current.status, host: { name, addresses } } : undefined;
    await patchStatus(instance, change, { client, signal });
  }
}

function unreadable(address: string, why: string): AppError {
  return new AppError('HOST_VALUE_UNKNOWN', `${address}: cannot read the addresses of the host: ${why}`, {
    remedy: 'Make the host reachable by SSH for the operator, or add the names to spec.servingNames.',
  });
}
