import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineLabel } from '../../../src/contract/names.ts';
import { furnish } from './furnished-host.ts';
import type { HostOptions, WindowsHost } from './host.ts';
import { subnetOf } from './real-doubles.ts';
import { createMachine, createMachineSet } from './real-machine.ts';
import type { RealScene } from './real-scene.ts';
import type { Member } from './real-sight.ts';

export const domain = 'lab.test';
/** Name of the Machine, of its host in the end, and of its Node. */
export const machineName = 'e2e-wm-x7k2p';

type NewMember = Required<Pick<HostOptions, 'name' | 'containers'>> &
  Pick<Member, 'reboots'> & { instance?: string; isFurnished?: boolean };

/** Rebooted for the feature Containers and for a name, and not for the CA of the registry or the proxy. */
const newMembers: readonly NewMember[] = [
  { name: 'win-1', containers: 'Enabled', reboots: 0, isFurnished: true },
  { name: 'win-2', containers: 'Disabled', reboots: 1, instance: `win-2.${domain}` },
  { name: 'win-3', containers: 'Enabled', reboots: 0, isFurnished: true },
  { name: 'WIN-7K2QX', containers: 'Disabled', reboots: 1, instance: machineName },
];

/** Three hosts for `windows-instances` and one for a Machine, as they come from their makers. */
export async function createMembers(scene: RealScene): Promise<Member[]> {
  const members = await Promise.all(newMembers.map(each => createMember(scene, each)));
  const [first, second] = members;
  // Reverse DNS says that the first host is the third, which must be ignored.
  const reverse = first?.host.address.split('.').reverse().join('.');
  scene.names.records.set(`PTR ${reverse}.in-addr.arpa`, [`win-3.${domain}`]);
  scene.names.records.set(`A win-2.${domain}`, [second?.host.address ?? '']);
  return members;
}

/** Furnished like some of the members, but it never joins. */
export async function createControl({ lab }: RealScene): Promise<WindowsHost> {
  const host = await lab.createHost({ name: 'control', containers: 'Enabled' });
  await furnish(host);
  return host;
}

async function createMember(scene: RealScene, newMember: NewMember): Promise<Member> {
  const { reboots, instance, isFurnished = false, ...options } = newMember;
  const host = await scene.lab.createHost(options);
  if (isFurnished) await furnish(host);
  await host.lab.setOverlay(subnetOf(host.address));
  return instance === machineName
    ? { host, reboots, name: machineName, source: 'Machine', instance }
    : { host, reboots, name: options.name, source: 'ConfigMap', instance: instance ?? host.address };
}

/** A Machine for the host, and one that must stay unchanged. Gives the user data of the host. */
export async function createMachines({ admin, lab }: RealScene, { host }: Member): Promise<string> {
  const owner = await createMachineSet(admin);
  const ignored = { name: 'ignored', address: '10.99.0.1', labels: { [machineLabel.ignore]: 'true' } };
  await createMachine(admin, { ...ignored, owner, boot: async () => undefined });
  let userData = '';
  await createMachine(admin, {
    name: machineName,
    address: host.address,
    owner,
    boot: async text => {
      userData = text;
      const keys = text.match(/^ssh-\S+ \S+/gm) ?? [];
      await writeFile(join(lab.folder, host.name, 'authorized_keys'), `${keys.join('\n')}\n`);
    },
  });
  return userData;
}
