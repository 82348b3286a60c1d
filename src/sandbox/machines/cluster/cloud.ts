import { randomBytes } from 'node:crypto';
import { attempt } from '#base/errors.ts';
import { type PublicKey, parseAuthorizedKey } from '#host/keys/public-key.ts';
import type { FaultName } from '../faults.ts';
import type { Fleet } from '../fleet.ts';
import type { Cloud } from './machines.ts';

export interface CloudOptions {
  fleet: Fleet;
  platform: string;
  /** By name of the Machine. */
  faults: ReadonlyMap<string, readonly FaultName[]>;
}

/** Lines of authorized_keys in the user data script. */
const keyLine = /^(?:ssh|ecdsa|sk)-[a-z0-9-]+ [A-Za-z0-9+/].*/gm;

/** A cloud of simulated hosts. They accept the keys in their user data. */
export function createCloud({ fleet, platform, faults }: CloudOptions): Cloud {
  return {
    create: (machine, userData) => {
      const host = fleet.add({
        name: machine,
        user: platform === 'Azure' ? 'capi' : 'Administrator',
        authorizedKeys: keysIn(userData),
        faults: faults.get(machine) ?? [],
        traits: isNamedByCloud(platform) ? {} : { hostName: randomName() },
      });
      // A host that fails to listen never answers.
      host.start('booting').catch(() => undefined);
      return { address: host.spec.address, providerId: `sandbox:///${host.state.id}` };
    },
    remove: machine => void fleet.remove(machine),
  };
}

/** Other platforms keep the random name of Windows until the operator renames the host. */
function isNamedByCloud(platform: string): boolean {
  return platform !== 'VSphere' && platform !== 'Nutanix';
}

function randomName(): string {
  return `WIN-${randomBytes(6).toString('hex').slice(0, 11).toUpperCase()}`;
}

function keysIn(userData: string): PublicKey[] {
  const lines = userData.match(keyLine) ?? [];
  return lines.flatMap(line => {
    const parsed = attempt(() => parseAuthorizedKey(line));
    return parsed.ok ? [parsed.value] : [];
  });
}
