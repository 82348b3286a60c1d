import { type KubeletProfile, readKubeletProfiles } from '../desired/kubelet-settings.ts';

/**
 * The profiles of `windows-kubelet-config`. A profile that has become invalid counts as it was before: a typo must not restart the
 * kubelets of all its hosts with other settings. That is not known after a restart of the operator.
 */
export class LastKubeletProfiles {
  #last = new Map<string, KubeletProfile>();

  read(data: Readonly<Record<string, string>> | undefined, label: string): KubeletProfile[] {
    const { profiles } = readKubeletProfiles(data, label);
    const valid = new Map(profiles.map(profile => [profile.name, profile]));
    const kept = [...this.#last.values()].filter(({ name }) => !valid.has(name) && Object.hasOwn(data ?? {}, name));
    this.#last = new Map([...valid.values(), ...kept].map(profile => [profile.name, profile]));
    return [...this.#last.values()].toSorted(
      (one, other) => one.priority - other.priority || (one.name < other.name ? -1 : 1),
    );
  }
}
