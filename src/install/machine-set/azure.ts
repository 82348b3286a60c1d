import type { Fields } from '#base/fields.ts';
import {
  atLeast,
  type MachinePlatform,
  minimumDiskGiB,
  type ProviderSpec,
  recordIn,
  without,
  wrongImage,
} from './machine-platform.ts';

export const azure: MachinePlatform = {
  hasShortNames: true,
  zone: spec => spec.string('zone') ?? '',
  instanceType: spec => spec.string('vmSize') ?? '',
  hasPublicImages: true,
  windowsSpec: (spec, { image, instanceType, version, isFromWindows }, fields) => {
    const keepsImage = isFromWindows && image === undefined;
    // Encryption at the host is for any image, trusted launch and confidential machines are not.
    const { settings: _, ...security } = recordIn(spec, 'securityProfile');
    const isSecured = hasSecurityType(spec) && !isFromWindows;
    const value: ProviderSpec = {
      // SSH keys of the platform are for Linux; the script in the user data authorizes the key of the operator.
      ...without(spec, 'sshPublicKey', ...(isSecured ? ['securityProfile'] : [])),
      ...(isSecured && Object.keys(security).length > 0 && { securityProfile: security }),
      ...(!keepsImage && {
        image: image === undefined ? publicImage(version.release, generationOf(spec)) : imageOf(image),
      }),
      ...(instanceType !== undefined && { vmSize: instanceType }),
      osDisk: windowsDisk(spec, fields.object('osDisk'), isSecured),
    };
    const notes = isSecured
      ? [
          'securityProfile.settings of the Linux MachineSet is left out: it needs an image for trusted launch or confidential machines',
        ]
      : [];
    return { value, notes };
  },
};

function windowsDisk(spec: ProviderSpec, disk: Fields, isSecured: boolean): ProviderSpec {
  const osDisk = recordIn(spec, 'osDisk');
  const managedDisk = recordIn(osDisk, 'managedDisk');
  return {
    ...osDisk,
    osType: 'Windows',
    diskSizeGB: atLeast(minimumDiskGiB, disk.number('diskSizeGB')),
    managedDisk: {
      ...(isSecured ? without(managedDisk, 'securityProfile') : managedDisk),
      storageAccountType: managedDisk['storageAccountType'] ?? 'Premium_LRS',
    },
  };
}

/** The Machine API writes empty settings where there are none. */
function hasSecurityType(spec: ProviderSpec): boolean {
  const { securityType } = recordIn(recordIn(spec, 'securityProfile'), 'settings');
  return securityType !== undefined && securityType !== '';
}

/** Many types of machines run images of one generation only, and that of the Linux set is one that works. */
function generationOf(spec: ProviderSpec): 1 | 2 {
  // Trusted launch and confidential machines are of the second.
  if (hasSecurityType(spec)) return 2;
  const { resourceID = '', sku = '' } = recordIn(spec, 'image');
  if (resourceID !== '') return /gen2|-g2/i.test(String(resourceID)) ? 2 : 1;
  // In the marketplace aro_419 and rh-ocp-worker-gen1 are of the first; 419-v2 and rh-ocp-worker of the second.
  return sku === '' || /^aro_|gen1/i.test(String(sku)) ? 1 : 2;
}

function publicImage(release: string, generation: 1 | 2): ProviderSpec {
  return {
    publisher: 'MicrosoftWindowsServer',
    offer: 'WindowsServer',
    sku: `${release}-datacenter-smalldisk${generation === 2 ? '-g2' : ''}`,
    version: 'latest',
    resourceID: '',
  };
}

/** A URN as the Azure command line prints it, or the id of an image of your own. */
function imageOf(text: string): ProviderSpec {
  if (/^\/(subscriptions|resourceGroups)\/[\w./()-]+$/i.test(text)) {
    return { publisher: '', offer: '', sku: '', version: '', resourceID: text };
  }
  const parts = text.split(':');
  const [publisher = '', offer = '', sku = '', version = ''] = parts;
  if (parts.length !== 4 || !parts.every(part => /^[\w.-]+$/.test(part))) {
    throw wrongImage(text, 'PUBLISHER:OFFER:SKU:VERSION, or the resource id of an image');
  }
  return { publisher, offer, sku, version, resourceID: '' };
}
