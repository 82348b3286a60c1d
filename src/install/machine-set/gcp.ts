import { AppError } from '#base/errors.ts';
import {
  atLeast,
  type MachinePlatform,
  minimumDiskGiB,
  type ProviderSpec,
  recordsIn,
  without,
  wrongImage,
} from './machine-platform.ts';

export const gcp: MachinePlatform = {
  hasShortNames: false,
  zone: spec => spec.string('zone') ?? '',
  instanceType: spec => spec.string('machineType') ?? '',
  hasPublicImages: true,
  windowsSpec: (spec, { image, instanceType, version, isFromWindows }, fields) => {
    const isBoot = fields.objects('disks').map(disk => (disk.number('sizeGb'), disk.boolean('boot') === true));
    if (!isBoot.includes(true)) {
      throw new AppError('FIELD_INVALID', `${fields.label}: ${fields.path}.disks has no boot disk`, {
        remedy: 'Use another MachineSet with --from, or set boot: true of one of its disks.',
      });
    }
    const keepsImage = isFromWindows && image === undefined;
    const isConfidential = spec['confidentialCompute'] !== undefined && !isFromWindows;
    const windowsImage = image === undefined ? publicImage(version.release) : checkedImage(image);
    const bootDisk = (disk: ProviderSpec): ProviderSpec => ({
      ...disk,
      ...(!keepsImage && { image: windowsImage }),
      sizeGb: atLeast(minimumDiskGiB, disk['sizeGb'] as number | undefined),
    });
    const value: ProviderSpec = {
      ...without(spec, ...(isConfidential ? ['confidentialCompute'] : [])),
      ...(instanceType !== undefined && { machineType: instanceType }),
      disks: recordsIn(spec, 'disks').map((disk, index) => (isBoot[index] === true ? bootDisk(disk) : disk)),
    };
    const notes = isConfidential
      ? ['confidentialCompute of the Linux MachineSet is left out: few images of Windows support it']
      : [];
    return { value, notes };
  },
};

function publicImage(release: string): string {
  return `projects/windows-cloud/global/images/family/windows-${release}-core`;
}

function checkedImage(image: string): string {
  if (/^(https:\/\/www\.googleapis\.com\/compute\/v1\/)?projects\/[\w./:-]+$/.test(image)) return image;
  throw wrongImage(image, 'the path of an image, such as projects/my-project/global/images/my-image');
}
