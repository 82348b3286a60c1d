import { attempt } from '#base/errors.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import type { MachineSettings, MachinesParts } from '../observe.ts';
import { informersFrom, storedText, wantedUserData } from '../../user-data/observe.ts';
import { publicKeyHash } from '#host/keys/public-key.ts';
import type { Informers } from '#kube/informer/informers.ts';

/** Settings of the machines controller, from the facts of the cluster and the user data Secret. */
export function machineSettings(
  informers: Pick<Informers, 'get'>,
  facts: FactsSource,
  namespace: string,
): Pick<MachinesParts, 'settings' | 'onSettingsChange'> {
  const sources = informersFrom(informers, namespace);
  return {
    settings: (): MachineSettings | undefined => {
      const platform = facts.read().facts?.platform;
      const wanted = attempt(() => wantedUserData(sources, facts));
      if (platform === undefined || !wanted.ok || wanted.value === undefined) return undefined;
      return {
        platform,
        pubKeyHash: publicKeyHash(wanted.value.publicKey),
        userDataIsCurrent: storedText(sources) === wanted.value.text,
      };
    },
    onSettingsChange: listener => {
      const handler = { added: listener, updated: listener, deleted: listener };
      const ends = [
        facts.onChange(listener),
        sources.privateKey.addHandler(handler),
        sources.userData.addHandler(handler),
      ];
      return () => ends.forEach(end => end());
    },
  };
}
