import { timestamp } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceKey } from '#contract/windows-instance/resource.ts';
import { authorizeRemedy } from '#host/keys/authorize-remedy.ts';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { describeKey, publicKeyHash } from '#host/keys/public-key.ts';
import { AgentJourney } from '../host-journey.ts';

/** A host that has to accept another SSH key of the operator. Its Node stays in service. */
export class RekeyJourney extends AgentJourney {
  /** Why the host keeps its former key for now. */
  wait: AppError | undefined;
  /** Why the operator could not add the current key itself. */
  problem: AppError | undefined;
  /** Former keys that the operator could not remove from the host. */
  readonly leftovers: { key: string; problem: AppError }[] = [];
  #current: PrivateKey | undefined;

  /** The key that the host should accept: after a connection the one that was offered first, which can be newer. */
  async current(signal: AbortSignal): Promise<PrivateKey> {
    const known = this.#known;
    if (known !== undefined) return known;
    const { inputs } = this.deps;
    const [current] = await inputs.loadKeys(this.instance, signal);
    const problem = inputs.keyProblem?.(this.instance);
    if (problem !== undefined) throw problem;
    if (current === undefined) throw new Error('there is always a current key');
    this.#current = current;
    return current;
  }

  get #known(): PrivateKey | undefined {
    return this.keys?.current ?? this.#current;
  }

  /** The host accepted the current key in the last connection, or before. */
  get isCurrent(): boolean {
    const current = this.#known;
    return current !== undefined && this.record.known.key?.hash === publicKeyHash(current.publicKey);
  }

  /** Keys that the operator is to remove from the host, by their hashes. */
  get former(): readonly string[] {
    return this.record.known.key?.former ?? [];
  }

  /** If the key is replaced once more before the host was seen to accept this one, it has to go, too. */
  async expect({ publicKey }: PrivateKey): Promise<void> {
    const { record, former } = this;
    const { key } = record.known;
    const hash = publicKeyHash(publicKey);
    if (key !== undefined && !former.includes(hash)) await record.save({ key: { ...key, former: [...former, hash] } });
  }

  /** The administrator may also go back to the key that the host has. */
  endWait(): void {
    const { pending, ...key } = this.record.known.key ?? { hash: '' };
    if (pending !== undefined) this.record.remember({ key });
  }

  /** The operator asks again later; nothing else of the host depends on it. */
  async postpone(current: PrivateKey): Promise<void> {
    const { instance, deps, record } = this;
    const { key } = record.known;
    const hash = publicKeyHash(current.publicKey);
    const now = timestamp(deps.clock.now());
    const since = key?.pending?.hash === hash ? key.pending.since : now;
    const retry = instance.metadata.annotations?.[instanceAnnotation.retry];
    const pending = { hash, since, tried: now, ...(retry !== undefined && { retry }) };
    this.wait = this.problem ?? this.#outdated(current);
    await record.save({ key: { ...(key ?? { hash: '' }), pending } satisfies InstanceKey });
  }

  #outdated({ publicKey }: PrivateKey): AppError {
    const { keys, username, address } = this;
    const former = keys === undefined ? 'a former one' : describeKey(keys.accepted);
    return new AppError(
      'HOST_KEY_OUTDATED',
      `${address}: SSH login as "${username}" was rejected for the current key ${describeKey(publicKey)}; the operator uses the former key ${former}`,
      { remedy: authorizeRemedy(publicKey) },
    );
  }
}
