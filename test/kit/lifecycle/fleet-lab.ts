import { randomFill } from 'node:crypto';
import { systemClock } from '../../../src/base/clock.ts';
import { findCondition } from '../../../src/base/condition.ts';
import type { WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { configMapName } from '../../../src/contract/names.ts';
import { instanceCondition } from '../../../src/contract/windows-instance/resource.ts';
import { isNotFound, unless } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import { configMaps, nodes, type Pod, pods } from '../../../src/kube/resources.ts';
import { fastDates } from '../fast-clock.ts';
import { refused } from '../memory-api.ts';
import { type SkippingClock, skippingClock } from '../skipping-clock.ts';
import { FleetWatch, isCordonedByOperator } from './fleet-watch.ts';
import { type JoinLab, type LabOperator, namespace, startJoinLab } from './join-lab.ts';
import { type LabHost, unreachable } from './lab-host.ts';
import type { newerParts } from './upgrade-lab.ts';

const speed = 40;
/** So many turns of the event loop without a change mean that all wait for time to pass. */
const quietTurns = 8;
const turnMs = 5;
/** Skipped whenever all wait. Shorter than the limit of any step. */
const skipMs = 30_000;

/** Far more than any schedule needs. */
const maxRounds = 1000;

/** On a busy machine work in the thread pool, such as signatures, takes longer than all turns: it has to be over, too. */
async function threadPoolTurn(): Promise<void> {
  await new Promise<void>(resolve => randomFill(new Uint8Array(1), () => resolve()));
}

export type HostState = 'Ready' | 'removed' | 'stopped' | 'busy';

/** Hosts 1 to `count`, each with an entry of windows-instances or without one, and the operators that work on them. */
export class FleetLab {
  readonly lab: JoinLab;
  readonly watch: FleetWatch;
  readonly clock: SkippingClock = skippingClock(fastDates(speed));
  readonly count: number;
  readonly #listed = new Set<number>();
  readonly #dead = new Set<number>();
  readonly #blocked = new Set<number>();
  #operator: LabOperator | undefined;
  /** Of the operators that are started; default: the first version. */
  version: Partial<typeof newerParts> = {};

  constructor(lab: JoinLab, watch: FleetWatch, count: number) {
    this.lab = lab;
    this.watch = watch;
    this.count = count;
    lab.hasEntries = true;
    lab.onConnect = (address, connection) => watch.checkConnection(address, connection);
    for (const host of this.all()) {
      const { faults } = this.host(host);
      faults.connect = () => {
        if (this.#dead.has(host)) throw unreachable(addressOf(host));
      };
    }
  }

  all(): number[] {
    return Array.from({ length: this.count }, (_, index) => index + 1);
  }

  host(host: number): LabHost {
    return this.lab.host(addressOf(host));
  }

  /** Adds entries, or cancels their removals. */
  async list(hosts: readonly number[]): Promise<void> {
    for (const host of hosts) this.#listed.add(host);
    await this.#patchEntries(hosts, 'username=Administrator');
  }

  async unlist(hosts: readonly number[]): Promise<void> {
    for (const host of hosts) this.#listed.delete(host);
    await this.#patchEntries(hosts, null);
  }

  /** Starts an operator. One that runs is killed at the same moment, or ends in good order before. */
  async lead(end: 'kill' | 'stop' = 'kill'): Promise<void> {
    if (end === 'stop') await this.#operator?.stop();
    else void this.#operator?.kill();
    const client = this.#withEvictions(this.lab.client);
    this.#operator = this.lab.start({ ...this.version, client, clock: this.clock });
  }

  killOperator(): void {
    void this.#operator?.kill();
    this.#operator = undefined;
  }

  /** The host does not answer until it is repaired. */
  breakHost(host: number): void {
    this.#dead.add(host);
    this.host(host).disconnect();
  }

  /** So many commands of the host fail. */
  failCommands(host: number, count: number): void {
    let left = count;
    this.host(host).faults.exec = () => {
      left -= 1;
      return left < 0 ? undefined : { exitCode: 1, stdout: '', stderr: 'Access is denied.' };
    };
  }

  /** A pod of the Node cannot be evicted until the host is repaired. */
  async blockDrain(host: number): Promise<void> {
    this.#blocked.add(host);
    const pod = {
      metadata: { name: `web-${host}`, namespace },
      spec: { nodeName: nodeOf(host), containers: [{ name: 'web', image: 'web' }] },
    };
    await this.lab.client.create<Pod>(pods, pod).catch(() => undefined);
  }

  repair(host: number): void {
    this.#dead.delete(host);
    this.#blocked.delete(host);
  }

  async reportReady(host: number, isReady: boolean): Promise<void> {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    await this.lab.client.patch(nodes, nodeOf(host), patch, { subresource: 'status' }).catch(unless(isNotFound));
  }

  /** Until so many changes were seen, or all wait; then time is skipped. */
  async progress(changes: number): Promise<void> {
    const end = this.watch.changes + changes;
    let [last, quiet] = [this.watch.changes, 0];
    while (this.watch.changes < end && quiet < quietTurns) {
      await Promise.all([systemClock.sleep(turnMs), threadPoolTurn()]);
      quiet = this.watch.changes === last ? quiet + 1 : 0;
      last = this.watch.changes;
    }
    if (quiet >= quietTurns) this.clock.skip(skipMs);
  }

  /** Until it is so; fails at once when something happened that never may. */
  async until(isSo: () => boolean, each: () => Promise<void> = async () => undefined): Promise<void> {
    for (let round = 0; !isSo(); round += 1) {
      if (this.watch.problems.length > 0) throw new Error(this.watch.problems.join('\n'));
      if (round === maxRounds) throw new Error(`hosts did not come to their end:\n${this.#busyTexts().join('\n')}`);
      await each();
      await this.progress(20);
    }
  }

  state(host: number): HostState {
    const instance = this.instanceOf(host);
    const node = this.watch.nodes.get(nodeOf(host));
    if (!this.#listed.has(host) && instance === undefined && node === undefined) return 'removed';
    const isInService = node !== undefined && node.spec?.unschedulable !== true;
    if (this.#listed.has(host) && instance?.status?.phase === 'Ready' && isInService) return 'Ready';
    return this.#isStopped(host, instance) ? 'stopped' : 'busy';
  }

  /** A host that stays broken, or waits for one, and says why. */
  #isStopped(host: number, instance: WindowsInstance | undefined): boolean {
    const ready = findCondition(instance?.status?.conditions, instanceCondition.ready);
    if (ready?.status !== 'False' || ready.reason === '') return false;
    if (this.#dead.has(host) || this.#blocked.has(host)) return true;
    return ready.reason === 'WaitsForBudget' && this.#isHeldBack(ready.message ?? '');
  }

  instanceOf(host: number): WindowsInstance | undefined {
    return [...this.watch.instances.values()].find(({ spec }) => spec.address === addressOf(host));
  }

  /** A Node that was cordoned, but cannot be drained or cleaned, may be all that the budget allows. */
  #isHeldBack(why: string): boolean {
    return [...this.#blocked, ...this.#dead].some(host => {
      const node = this.watch.nodes.get(nodeOf(host));
      return node !== undefined && isCordonedByOperator(node) && why.includes(`out of service: ${nodeOf(host)} (`);
    });
  }

  #busyTexts(): string[] {
    return this.all()
      .filter(host => this.state(host) === 'busy')
      .map(host => {
        const { status, metadata } = this.instanceOf(host) ?? { metadata: {} };
        const node = this.watch.nodes.get(nodeOf(host));
        return JSON.stringify({
          host,
          isListed: this.#listed.has(host),
          annotations: metadata.annotations,
          status: { ...status, timeline: undefined },
          isCordoned: node && isCordonedByOperator(node),
          spec: node?.spec,
        });
      });
  }

  async #patchEntries(hosts: readonly number[], value: string | null): Promise<void> {
    const data = Object.fromEntries(hosts.map(host => [addressOf(host), value]));
    const { client } = this.lab;
    await client.patch(configMaps, configMapName.instances, { type: 'merge', body: { data } }, { namespace });
  }

  /** Evicted pods end at once, as no kubelet runs here. */
  #withEvictions(client: Client): Client {
    const evict = async (name: string) => {
      if (this.#blocked.has(Number(name.replace('web-', '')))) throw refused(429, 'TooManyRequests');
      await client.delete(pods, name, { namespace, gracePeriodSeconds: 0 });
    };
    const create: Client['create'] = async (resource, object, options = {}) => {
      if (options.subresource !== 'eviction') return client.create(resource, object, options);
      await evict(object.metadata.name ?? '');
      return object;
    };
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = name === 'create' ? create : Reflect.get(target, name);
        return typeof member === 'function' ? (member as (...args: unknown[]) => unknown).bind(target) : member;
      },
    });
  }
}

/** All hosts have joined; the limit is that of Nodes out of service at once. */
export async function startFleet(
  count: number,
  { limit, ...settings }: { maxUnavailable: string; limit: number; first?: string; soak?: string },
): Promise<FleetLab> {
  const lab = await startJoinLab();
  const watch = new FleetWatch(limit);
  await watch.start(lab.client);
  for (const [name, data] of [
    [configMapName.instances, {}],
    [configMapName.rollout, settings],
  ] as const)
    await lab.client.create(configMaps, { metadata: { name, namespace }, data });
  const fleet = new FleetLab(lab, watch, count);
  await fleet.lead();
  await fleet.list(fleet.all());
  await fleet.until(() => fleet.all().every(host => fleet.state(host) === 'Ready'));
  return fleet;
}

export const addressOf = (host: number): string => `10.0.0.${host}`;
export const nodeOf = (host: number): string => `win-${host}`;
