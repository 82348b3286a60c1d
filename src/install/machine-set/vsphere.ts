import { AppError } from '#base/errors.ts';
import {
  atLeast,
  type MachinePlatform,
  minimumDiskGiB,
  type ProviderSpec,
  recordIn,
  recordsIn,
  wantedImage,
  without,
  wrongImage,
} from './machine-platform.ts';

/** Of a network device: Linux gets them at its first boot in a way that Windows does not know. */
const staticFields = ['ipAddrs', 'gateway', 'nameservers', 'addressesFromPools'];

export const vsphere: MachinePlatform = {
  hasShortNames: true,
  zone: () => '',
  size: ({ numCPUs, memoryMiB }) =>
    typeof numCPUs === 'number' && typeof memoryMiB === 'number' ? { vcpu: numCPUs, memoryMb: memoryMiB } : undefined,
  hasPublicImages: false,
  windowsSpec: (spec, wishes, fields) => {
    const template = wantedImage(wishes, 'the virtual machine template of Windows');
    // A template is named by its path in the inventory, which allows nearly everything.
    if (template !== undefined && (template.trim() !== template || /[\p{Cc}]/u.test(template))) {
      throw wrongImage(template, 'the name or path of a virtual machine template');
    }
    const devices = fields.object('network').objects('devices');
    if (devices.length > 1) throw severalAdapters(fields.label, devices.length);
    const isStatic = devices.some(device => staticFields.some(name => device.raw(name) !== undefined));
    const network = recordIn(spec, 'network');
    const value: ProviderSpec = {
      ...without(spec, ...(wishes.isFromWindows ? [] : ['cloneMode'])),
      ...(template !== undefined && { template, snapshot: '' }),
      diskGiB: atLeast(minimumDiskGiB, fields.number('diskGiB')),
      ...cpus(wishes.vcpu, fields.number('numCoresPerSocket')),
      ...(wishes.memoryMb !== undefined && { memoryMiB: wishes.memoryMb }),
      network: { ...network, devices: recordsIn(network, 'devices').map(device => without(device, ...staticFields)) },
    };
    const notes = isStatic
      ? ['static addresses of the Linux MachineSet are left out: Windows Machines get their addresses by DHCP']
      : [];
    return { value, notes };
  },
};

function cpus(vcpu: number | undefined, coresPerSocket: number | undefined): ProviderSpec {
  if (vcpu === undefined) return {};
  return { numCPUs: vcpu, numCoresPerSocket: vcpu % (coresPerSocket || 1) === 0 ? (coresPerSocket ?? 1) : 1 };
}

function severalAdapters(label: string, count: number): AppError {
  return new AppError(
    'MACHINE_SET_REFUSED',
    `${label} gives its Machines ${count} network adapters; a Windows host has one`,
    { remedy: 'Use a MachineSet with one network device with --from.' },
  );
}
