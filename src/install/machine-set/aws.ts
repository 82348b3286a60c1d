import {
  atLeast,
  type MachinePlatform,
  minimumDiskGiB,
  type ProviderSpec,
  recordIn,
  recordsIn,
  wantedImage,
  wrongImage,
} from './machine-platform.ts';

export const aws: MachinePlatform = {
  hasShortNames: false,
  zone: spec => spec.object('placement').string('availabilityZone') ?? '',
  instanceType: spec => spec.string('instanceType') ?? '',
  hasPublicImages: false,
  windowsSpec: (spec, wishes, fields) => {
    const region = fields.object('placement').string('region') ?? 'REGION';
    const ami = wantedImage(wishes, 'the AMI of Windows', ` ${searchAdvice(region, wishes.version.release)}`);
    if (ami !== undefined && !/^ami-[0-9a-f]{8,17}$/.test(ami)) {
      throw wrongImage(ami, 'the id of an AMI, such as ami-0123456789abcdef0');
    }
    fields.objects('blockDevices').forEach(device => device.object('ebs').number('volumeSize'));
    const value: ProviderSpec = {
      ...spec,
      ...(ami !== undefined && { ami: { id: ami } }),
      ...(wishes.instanceType !== undefined && { instanceType: wishes.instanceType }),
      blockDevices: withLargeRoot(recordsIn(spec, 'blockDevices')),
    };
    return { value, notes: [] };
  },
};

function searchAdvice(region: string, release: string): string {
  const shellSafe = /^[a-z0-9-]+$/.test(region) ? region : 'REGION';
  return `Find it with \`aws ec2 describe-images --region ${shellSafe} --owners amazon --filters "Name=name,Values=Windows_Server-${release}-English-Core-Base-*" --query "sort_by(Images, &CreationDate)[-1].ImageId"\`.`;
}

/**
 * The root disk of Linux images is /dev/xvda or /dev/sda1, and that of Windows images /dev/sda1; without a name it is the
 * root disk of any image, which must not be listed twice.
 */
function withLargeRoot(devices: readonly ProviderSpec[]): ProviderSpec[] {
  const isRoot = ({ deviceName }: ProviderSpec) =>
    deviceName === undefined || deviceName === '/dev/xvda' || deviceName === '/dev/sda1';
  const others = devices.filter(device => !isRoot(device));
  const ebs = recordIn(devices.find(isRoot) ?? {}, 'ebs');
  const { volumeSize } = ebs;
  const size = atLeast(minimumDiskGiB, typeof volumeSize === 'number' ? volumeSize : undefined);
  return [{ ebs: { ...ebs, volumeSize: size, volumeType: ebs['volumeType'] ?? 'gp3' } }, ...others];
}
