import { AppError, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { readPlatform } from '#cluster/infrastructure.ts';
import { machineLabel, namespaceName, nodeLabel, secretName } from '#contract/names.ts';
import type { KubeObject } from '#contract/object.ts';
import { windowsVersionsOn } from '#contract/supported-versions.ts';
import type { KubeResource } from '#kube/resource.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';
import { capacityOf, isArm } from './capacity.ts';
import { gcp } from './gcp.ts';
import { type MachinePlatform, type MachineWishes, type ProviderSpec, recordIn, without } from './machine-platform.ts';
import { nutanix } from './nutanix.ts';
import { windowsSetName } from './set-name.ts';
import { chooseSource, type SourceSet } from './source-set.ts';
import { vsphere } from './vsphere.ts';

export interface WindowsSetWishes extends Omit<MachineWishes, 'isFromWindows'> {
  name: string | undefined;
  from: string | undefined;
  zone: string | undefined;
  replicas: number;
  /** The user has named the version, so it is also that of an own image. */
  isVersionGiven: boolean;
}

export interface WindowsSet {
  object: KubeResource & { spec: Record<string, unknown> };
  /** What the user should know about it. */
  notes: readonly string[];
}

const machinePlatforms: Readonly<Record<string, MachinePlatform>> = {
  AWS: aws,
  Azure: azure,
  GCP: gcp,
  VSphere: vsphere,
  Nutanix: nutanix,
};

/** A MachineSet for Windows, from the Infrastructure object of the cluster and one of its MachineSets. */
export function windowsSet(
  infrastructure: KubeObject,
  sets: readonly KubeObject[],
  wishes: WindowsSetWishes,
): WindowsSet {
  const platformType = readPlatform(infrastructure);
  const platform = platformOf(platformType, infrastructure);
  const infrastructureName = infrastructure.fields.object('status').requiredString('infrastructureName');
  checkVersion(platformType, wishes);
  const source = chooseSource(sets, { infrastructureName, platform, from: wishes.from, zone: wishes.zone });
  checkType(source, platform, wishes);
  const name = windowsSetName(wishes.name, { platformType, platform, infrastructureName, zone: source.zone });
  const machineWishes = { ...wishes, isFromWindows: source.isWindows };
  const { value: changed, notes } = platform.windowsSpec(source.spec, machineWishes, source.fields);
  const value = withUserData(changed);
  const isPublic = platform.hasPublicImages && wishes.image === undefined && !source.isWindows;
  const version = wishes.isVersionGiven || isPublic ? wishes.version : undefined;
  const capacity = capacityOf({ source, platform, wishes: machineWishes, value, version });
  const object = setObject({ name, infrastructureName, replicas: wishes.replicas, value });
  return {
    object: { ...object, metadata: { ...object.metadata, annotations: capacity.annotations } },
    notes: [...notes, ...capacity.notes],
  };
}

function platformOf(type: string, infrastructure: KubeObject): MachinePlatform {
  const platform = ownMember(machinePlatforms, type);
  if (platform !== undefined) return platform;
  const known = Object.keys(machinePlatforms).join(', ');
  throw new AppError(
    'MACHINE_SET_REFUSED',
    `${infrastructure.label}: the platform is ${shown(type)}, and Windows MachineSets are made for ${known}`,
    { remedy: 'List hosts of your own in the ConfigMap windows-instances instead.' },
  );
}

function checkVersion(platformType: string, { version }: WindowsSetWishes): void {
  const known = windowsVersionsOn(platformType);
  if (known.includes(version)) return;
  throw new AppError('MACHINE_SET_REFUSED', `${version.name} is not supported on ${platformType}`, {
    remedy: `Use --windows-version ${known.map(({ release }) => release).join(' or ')}.`,
  });
}

function checkType(source: SourceSet, { instanceType }: MachinePlatform, wishes: WindowsSetWishes): void {
  if (instanceType === undefined && wishes.instanceType !== undefined) {
    throw new AppError('MACHINE_SET_REFUSED', 'machines of this platform have no types', {
      remedy: 'Use --vcpu and --memory-mb instead of --instance-type.',
    });
  }
  if (!isArm(source) || wishes.instanceType !== undefined) return;
  throw new AppError('MACHINE_SET_UNCLEAR', `${source.set.label} is for arm64, on which there is no Windows Server`, {
    remedy: 'Pass a type for x86 with --instance-type, or another set with --from.',
  });
}

/** The script that lets the operator log in, instead of the ignition of Linux. */
function withUserData(spec: ProviderSpec): ProviderSpec {
  const userDataSecret = { ...recordIn(spec, 'userDataSecret'), name: secretName.userData };
  return { ...without(spec, 'metadata'), userDataSecret };
}

interface SetParts {
  name: string;
  infrastructureName: string;
  replicas: number;
  value: ProviderSpec;
}

function setObject({ name, infrastructureName, replicas, value }: SetParts): WindowsSet['object'] {
  const clusterLabel = { [machineLabel.cluster]: infrastructureName };
  const selected = { ...clusterLabel, [machineLabel.machineSet]: name };
  const labels = {
    ...selected,
    [machineLabel.role]: 'worker',
    [machineLabel.type]: 'worker',
    [machineLabel.osId]: 'Windows',
  };
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    metadata: { name, namespace: namespaceName.machineApi, labels: clusterLabel },
    spec: {
      replicas,
      selector: { matchLabels: selected },
      template: {
        metadata: { labels },
        spec: { metadata: { labels: { [nodeLabel.worker]: '' } }, providerSpec: { value } },
      },
    },
  };
}
