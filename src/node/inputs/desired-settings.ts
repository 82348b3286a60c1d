import type { Clock } from '#base/clock.ts';
import { type AppError, attempt } from '#base/errors.ts';
import type { Log } from '#base/log.ts';
import { Secret } from '#base/secret.ts';
import { printDesiredServices } from '#contract/services/hash.ts';
import { filesHash, settingsFiles, type SettingsInput } from '../desired/files.ts';
import { type KubeletProfile, kubeletSettingsFor } from '../desired/kubelet-settings.ts';
import type { HostSettings } from '../lifecycle/deps.ts';
import { packFiles } from '../pack-files.ts';

/** What settings are made of; everything that can be missing is read at once. */
export interface SettingsSources extends Omit<SettingsInput, 'kubelet'> {
  /** Of this operator. */
  version: string;
  /** Hash of the content that the services ConfigMap of this version should have. */
  servicesHash: string;
  /** Settings of kubelets, by labels of hosts. */
  kubeletProfiles: readonly KubeletProfile[];
  /** Known to this operator alone; for files that may hold passwords and nothing that cannot be guessed. */
  salt: Secret;
}

export interface DesiredSettingsOptions {
  /** Throws an AppError while something is missing. */
  read: () => SettingsSources;
  /** A problem in spite of which settings are complete. */
  note?: () => AppError | undefined;
  clock: Clock;
  log: Log;
}

/** Several objects often change together. */
const settleMs = 100;

/** The settings that hosts should have, computed once for each change of the cluster. */
export class DesiredSettings {
  readonly #options: DesiredSettingsOptions;
  readonly #listeners = new Set<() => void>();
  #current: Current | undefined;
  #isSettling = false;
  #problem: AppError | undefined;
  #logged: string | undefined;
  /** What listeners were told last. */
  #told: string | undefined;

  constructor(options: DesiredSettingsOptions) {
    this.#options = options;
  }

  /** For a host with these labels. Undefined while something is missing or malformed: then hosts keep what they have. */
  get(labels: Labels = {}): HostSettings | undefined {
    const { sources, byLabels, byKubelet } = (this.#current ??= this.#read());
    if (sources === undefined) return undefined;
    const labelsKey = JSON.stringify(labels);
    const known = byLabels.get(labelsKey);
    if (known !== undefined) return known;
    const key = JSON.stringify(kubeletSettingsFor(sources.kubeletProfiles, labels).settings);
    const settings = byKubelet.get(key) ?? this.#compute(sources, labels);
    if (settings === undefined) return undefined;
    byKubelet.set(key, settings);
    byLabels.set(labelsKey, settings);
    return settings;
  }

  /** Why hosts keep what they have; undefined when everything is there. */
  get problem(): AppError | undefined {
    return this.get() === undefined ? this.#problem : undefined;
  }

  /** An object that settings are made of has changed. */
  invalidate(): void {
    this.#current = undefined;
    if (this.#isSettling || this.#listeners.size === 0) return;
    this.#isSettling = true;
    this.#settle().catch((error: unknown) => this.#options.log.error('Following settings failed', { error }));
  }

  /** Calls the listener after each change of what hosts should have or of what is wrong; returns the function that removes it. */
  onChange(listener: () => void): () => void {
    this.#told ??= this.#id();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #settle(): Promise<void> {
    await this.#options.clock.sleep(settleMs).catch(() => undefined);
    this.#isSettling = false;
    const id = this.#id();
    if (id === this.#told) return;
    this.#told = id;
    for (const listener of this.#listeners) listener();
  }

  /** Changes when what any host should have, or what is wrong, may have changed. */
  #id(): string {
    const settings = this.get();
    if (settings === undefined) return `incomplete: ${this.#problem?.message}`;
    const profiles = JSON.stringify(this.#current?.sources?.kubeletProfiles);
    return `${settings.liveHash} ${settings.services} ${profiles} ${this.#options.note?.()?.message}`;
  }

  #read(): Current {
    const sources = attempt(() => this.#options.read());
    if (sources.ok) this.#problem = undefined;
    else this.#fail(sources.error);
    return { sources: sources.ok ? sources.value : undefined, byLabels: new Map(), byKubelet: new Map() };
  }

  #compute(sources: SettingsSources, labels: Labels): HostSettings | undefined {
    const settings = attempt(() => settingsFrom(sources, labels));
    if (settings.ok) {
      this.#logged = undefined;
      return settings.value;
    }
    this.#fail(settings.error);
    // Hosts differ in the settings of their kubelets alone, which are checked: it fails for all of them.
    this.#current = { sources: undefined, byLabels: new Map(), byKubelet: new Map() };
    return undefined;
  }

  /** Objects change often while something is missing; each problem is logged once. */
  #fail(error: AppError): void {
    this.#problem = error;
    if (this.#logged === error.message) return;
    this.#logged = error.message;
    this.#options.log.info('Settings of hosts are not complete; hosts keep theirs', { error });
  }
}

type Labels = Readonly<Record<string, string>>;

interface Current {
  /** Undefined when something is missing. */
  sources: SettingsSources | undefined;
  byLabels: Map<string, HostSettings>;
  /** By the settings of the kubelet, in which alone hosts differ. */
  byKubelet: Map<string, HostSettings>;
}

const noSalt = new Secret('');

/** Of one reading of the cluster. */
export function settingsFrom(sources: SettingsSources, labels: Labels = {}): HostSettings {
  const { version, servicesHash: hash, salt } = sources;
  const { files, ownedDirectories } = settingsFiles(settingsInput(sources, labels));
  const of = (use: 'live' | 'start') => files.filter(each => each.use === use);
  // The private key among the live files is a salt by itself.
  const start = of('start');
  const startSalt = start.some(each => each.sensitive) ? salt : noSalt;
  let texts: ReturnType<HostSettings['texts']> | undefined;
  return {
    liveHash: filesHash(of('live'), noSalt),
    services: printDesiredServices({ version, hash, files: filesHash(start, startSalt) }),
    hasProxy: Object.keys(sources.facts.proxy).length > 0,
    mirrors: Object.keys(sources.registries).toSorted(),
    ownedDirectories,
    // Packed once for all hosts.
    texts: () => (texts ??= packFiles(files)),
  };
}

/** What the files of a host with these labels are made of. */
export function settingsInput(
  { facts, tls, registries, logins, kubeletProfiles }: SettingsSources,
  labels: Labels = {},
): SettingsInput {
  const kubelet = kubeletSettingsFor(kubeletProfiles, labels).settings;
  return { facts, tls, registries, kubelet, ...(logins !== undefined && { logins }) };
}
