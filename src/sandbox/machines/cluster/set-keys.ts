import { authorizedKeysFile } from '#contract/paths.ts';
import type { SimulatedHost } from '../host/host.ts';
import type { HostRequest } from './host-requests.ts';

/** On a WindowsInstance; the value is the new content of administrators_authorized_keys on its host. */
export const authorizedKeysAnnotation = 'sandbox.wmco/authorized-keys';

export interface KeyFleet {
  find(address: string): Pick<SimulatedHost, 'setAuthorizedKeys'> | undefined;
  host(name: string): Pick<SimulatedHost, 'setAuthorizedKeys'>;
}

export function setKeys(fleet: KeyFleet): HostRequest {
  return {
    annotation: authorizedKeysAnnotation,
    done: 'KeysSet',
    refused: 'KeysNotSet',
    run(address, value) {
      const lines = value.split('\n').filter(line => line !== '');
      // Only a host that is being removed cannot write.
      (fleet.find(address) ?? fleet.host(address)).setAuthorizedKeys(lines).catch(() => undefined);
      return `${authorizedKeysFile} has ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`;
    },
  };
}
