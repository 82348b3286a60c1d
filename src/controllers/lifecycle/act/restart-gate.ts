import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { parseDesiredServices } from '#contract/services/hash.ts';
import { isRejected } from '../condition.ts';
import { decide, type LifecycleFacts } from '../decide.ts';
import { isGettingServices } from '../observe.ts';
import type { Work } from './work.ts';

/** The host that gets settings which no host has yet. The cache shows it later than other hosts are decided about. */
export class FirstRestart {
  #name: string | undefined;

  /** Holds others back until it is disposed of; undefined if there is another one. */
  take(name: string): Disposable | undefined {
    if (this.#name !== undefined) return undefined;
    this.#name = name;
    return { [Symbol.dispose]: () => (this.#name = undefined) };
  }

  get name(): string | undefined {
    return this.#name;
  }
}

/** To call without a pause after the facts were collected. */
export function takeFirst(
  facts: LifecycleFacts,
  { firstRestart, instances }: Pick<Work, 'firstRestart' | 'instances'>,
): Disposable | undefined {
  const { servicesHash } = facts.desired ?? {};
  if (servicesHash === undefined || decide(facts).do !== 'restart') return undefined;
  return isProved(servicesHash, instances.store.list())
    ? undefined
    : firstRestart.take(facts.instance.metadata.name ?? '');
}

function isProved(desired: string, all: readonly WindowsInstance[]): boolean {
  return all.some(({ status }) => status?.settings?.services?.applied === desired);
}

/**
 * Settings that are new to this host failed on another one, or the first host with them is not done yet. A host that is paused,
 * rejected or removed holds no other back, and one that has begun with these settings goes on.
 */
export function restartGate(
  instance: WindowsInstance,
  desired: string,
  work: Pick<Work, 'instances' | 'firstRestart'>,
): string | undefined {
  const { metadata, status } = instance;
  const own = status?.settings?.services;
  if (own?.desired === desired && (own.failed !== undefined || isGettingServices(instance))) return undefined;
  const all = work.instances.store.list();
  const holds = (other: WindowsInstance) =>
    other.metadata.uid !== metadata.uid &&
    other.spec.paused !== true &&
    !isRejected(other) &&
    other.status?.journey?.name !== 'remove';
  const failed = all.find(other => hasFailedWith(other, { desired, applied: own?.applied }) && holds(other));
  if (failed !== undefined) return failureText(failed);
  if (isProved(desired, all)) return undefined;
  const { name: holder } = work.firstRestart;
  const first =
    holder === undefined || holder === metadata.name
      ? all.find(other => isGettingServices(other, desired) && holds(other))?.metadata.name
      : holder;
  return first && `${first} is the first host with these settings, and is not done`;
}

/** Whether another host would newly get the same services, or the same files of services, as this one, which failed. */
function hasFailedWith({ status }: WindowsInstance, own: { desired: string; applied: string | undefined }): boolean {
  const { desired: theirs, failed } = status?.settings?.services ?? {};
  if (failed === undefined || theirs === undefined) return false;
  const [its, desired, applied] = [theirs, own.desired, own.applied].map(parseDesiredServices);
  const isNews = (part: 'hash' | 'files') => desired?.[part] !== applied?.[part] && desired?.[part] === its?.[part];
  return its?.version === desired?.version && (isNews('hash') || isNews('files'));
}

/** The text of another host is not repeated: it may have written it. */
function failureText({ metadata: { name = '', namespace = '' }, status }: WindowsInstance): string {
  const pause = `kubectl patch windowsinstance ${name} -n ${namespace} --type merge -p '{"spec":{"paused":true}}'`;
  const choices = `\`wmco status ${name}\` shows why. Correct the settings, which are then tried at once; or go on without that host: \`${pause}\``;
  return `they failed on ${name} (${status?.settings?.services?.failed?.code}). ${choices}`;
}
