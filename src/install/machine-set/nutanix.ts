import { AppError } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import { parseQuantity, type Quantity } from '#base/quantity.ts';
import {
  type MachinePlatform,
  minimumDiskGiB,
  type ProviderSpec,
  wantedImage,
  wrongImage,
} from './machine-platform.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const nutanix: MachinePlatform = {
  hasShortNames: true,
  zone: spec => spec.object('failureDomain').string('name') ?? '',
  size: ({ vcpuSockets, vcpusPerSocket, memorySize }) => {
    const memory = typeof memorySize === 'string' ? parseQuantity(memorySize) : undefined;
    if (typeof vcpuSockets !== 'number' || typeof vcpusPerSocket !== 'number' || memory === undefined) return undefined;
    return { vcpu: vcpuSockets * vcpusPerSocket, memoryMb: wholeUnits(memory, 20n) };
  },
  hasPublicImages: false,
  windowsSpec: (spec, wishes, fields) => {
    const image = wantedImage(wishes, 'the image of Windows');
    if (image !== undefined && !/^[\w][\w .()-]*$/.test(image)) {
      throw wrongImage(image, 'the name or UUID of an image');
    }
    const { vcpu, memoryMb } = wishes;
    const value: ProviderSpec = {
      ...spec,
      ...(image !== undefined && {
        image: uuid.test(image) ? { type: 'uuid', uuid: image } : { type: 'name', name: image },
      }),
      systemDiskSize: largeDisk(fields),
      ...(vcpu !== undefined && { vcpuSockets: vcpu, vcpusPerSocket: 1 }),
      ...(memoryMb !== undefined && { memorySize: `${memoryMb}Mi` }),
    };
    if (fields.raw('subnets') !== undefined && fields.objects('subnets').length > 1) throw severalSubnets(fields);
    return { value, notes: [] };
  },
};

function largeDisk(fields: Fields): string {
  const text = fields.string('systemDiskSize') ?? '';
  const size = parseQuantity(text);
  return size !== undefined && wholeUnits(size, 30n) >= minimumDiskGiB ? text : `${minimumDiskGiB}Gi`;
}

/** In units of two to the power of `shift`. */
function wholeUnits({ numerator, denominator }: Quantity, shift: bigint): number {
  return Number((numerator / denominator) >> shift);
}

function severalSubnets(fields: Fields): AppError {
  return new AppError('MACHINE_SET_REFUSED', `${fields.label} has several subnets; a Windows host has one adapter`, {
    remedy: 'Use a MachineSet with one subnet with --from.',
  });
}
