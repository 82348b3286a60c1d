import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { infrastructureName, infrastructureOf, linuxSet, linuxSpecs } from '../../../test/kit/machine-sets.ts';
import { isAppError } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import { windowsVersions, type WindowsVersion } from '#contract/supported-versions.ts';
import { type WindowsSet, type WindowsSetWishes, windowsSet } from './windows-set.ts';

type PlatformType = keyof typeof linuxSpecs;

const releaseOf = (year: string) => windowsVersions.find(({ release }) => release === year) as WindowsVersion;

const noWishes: WindowsSetWishes = {
  name: undefined,
  from: undefined,
  zone: undefined,
  image: undefined,
  instanceType: undefined,
  vcpu: undefined,
  memoryMb: undefined,
  version: releaseOf('2022'),
  isVersionGiven: false,
  replicas: 1,
};

const knownSize = {
  'machine.openshift.io/vCPU': '4',
  'machine.openshift.io/memoryMb': '16384',
  'machine.openshift.io/GPU': '0',
  'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=amd64',
};

const images: Record<PlatformType, string | undefined> = {
  AWS: 'ami-0123456789abcdef0',
  Azure: undefined,
  GCP: undefined,
  VSphere: 'templates/windows-2022',
  Nutanix: 'windows-2022.qcow2',
};

function make(
  type: PlatformType,
  wishes: Partial<WindowsSetWishes> = {},
  sets: readonly object[] = [linuxSet(linuxSpecs[type], { annotations: knownSize })],
): WindowsSet {
  const objects = sets.map(set => readObject(set));
  return windowsSet(readObject(infrastructureOf(type)), objects, { ...noWishes, image: images[type], ...wishes });
}

function specIn({ object }: WindowsSet): Record<string, unknown> {
  const { template } = object.spec as {
    template: { spec: { providerSpec: { value: Record<string, unknown> } } };
  };
  return template.spec.providerSpec.value;
}

/** Members of the providerSpec that differ from those of the Linux set; `undefined` for those that are left out. */
function differences(type: PlatformType, made: WindowsSet): Record<string, unknown> {
  const before: Record<string, unknown> = linuxSpecs[type];
  const after = specIn(made);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name])).map(name => [name, after[name]]),
  );
}

const rows: [PlatformType, name: string, want: Record<string, unknown>, notes: RegExp[]][] = [
  [
    'AWS',
    `${infrastructureName}-windows-worker-eu-central-1a`,
    {
      metadata: undefined,
      ami: { id: 'ami-0123456789abcdef0' },
      blockDevices: [{ ebs: { encrypted: true, iops: 0, kmsKey: { arn: '' }, volumeSize: 128, volumeType: 'gp3' } }],
      userDataSecret: { name: 'windows-user-data' },
    },
    [],
  ],
  [
    'Azure',
    'winwork-2',
    {
      metadata: undefined,
      sshPublicKey: undefined,
      securityProfile: undefined,
      image: {
        publisher: 'MicrosoftWindowsServer',
        offer: 'WindowsServer',
        sku: '2022-datacenter-smalldisk',
        version: 'latest',
        resourceID: '',
      },
      osDisk: {
        diskSettings: {},
        diskSizeGB: 128,
        managedDisk: { storageAccountType: 'Premium_LRS' },
        osType: 'Windows',
      },
      userDataSecret: { name: 'windows-user-data', namespace: 'openshift-machine-api' },
    },
    [/securityProfile .* left out/],
  ],
  [
    'GCP',
    `${infrastructureName}-windows-worker-europe-west4-a`,
    {
      metadata: undefined,
      confidentialCompute: undefined,
      disks: [
        {
          autoDelete: true,
          boot: true,
          image: 'projects/windows-cloud/global/images/family/windows-2022-core',
          labels: null,
          sizeGb: 128,
          type: 'pd-ssd',
        },
        linuxSpecs.GCP.disks[1],
      ],
      userDataSecret: { name: 'windows-user-data' },
    },
    [/confidentialCompute .* left out/],
  ],
  [
    'VSphere',
    'winworker',
    {
      metadata: undefined,
      cloneMode: undefined,
      diskGiB: 128,
      network: { devices: [{ networkName: 'segment-7' }] },
      snapshot: '',
      template: 'templates/windows-2022',
      userDataSecret: { name: 'windows-user-data' },
    },
    [/static addresses .* DHCP/],
  ],
  [
    'Nutanix',
    'winworker',
    {
      metadata: undefined,
      image: { type: 'name', name: 'windows-2022.qcow2' },
      systemDiskSize: '128Gi',
      userDataSecret: { name: 'windows-user-data' },
    },
    [],
  ],
];

for (const [type, name, want, notes] of rows) {
  test(`${type}: the providerSpec is that of the Linux set but for what Windows needs`, () => {
    const made = make(type);
    expect(made.object.metadata.name).toBe(name);
    expect(differences(type, made)).toEqual(want);
    expect(made.notes).toEqual(notes.map(note => expect.stringMatching(note) as string));
  });

  test(`${type}: labels make the Machines Windows workers of this set`, () => {
    const { object } = make(type);
    const cluster = { 'machine.openshift.io/cluster-api-cluster': infrastructureName };
    const selected = { ...cluster, 'machine.openshift.io/cluster-api-machineset': name };
    expect(object).toMatchObject({
      apiVersion: 'machine.openshift.io/v1beta1',
      kind: 'MachineSet',
      metadata: { namespace: 'openshift-machine-api', labels: cluster },
    });
    const { template, ...spec } = object.spec;
    expect(spec).toEqual({ replicas: 1, selector: { matchLabels: selected } });
    expect(template).toEqual({
      metadata: {
        labels: {
          ...selected,
          'machine.openshift.io/cluster-api-machine-role': 'worker',
          'machine.openshift.io/cluster-api-machine-type': 'worker',
          'machine.openshift.io/os-id': 'Windows',
        },
      },
      spec: {
        metadata: { labels: { 'node-role.kubernetes.io/worker': '' } },
        providerSpec: { value: specIn({ object, notes: [] }) },
      },
    });
  });
}

const build = 'node.kubernetes.io/windows-build=10.0.20348';
const sizes: [what: string, PlatformType, Partial<WindowsSetWishes>, want: (string | undefined)[], labels: string][] = [
  ['of the Linux set, for the same type', 'AWS', {}, ['4', '16384', '0'], ''],
  ['of the Linux set, for the type it has', 'AWS', { instanceType: 'm6i.xlarge' }, ['4', '16384', '0'], ''],
  ['unknown for another type', 'AWS', { instanceType: 'm5.large' }, [undefined, undefined, undefined], ''],
  ['the ones given', 'AWS', { instanceType: 'm5.large', vcpu: 2, memoryMb: 8192 }, ['2', '8192', undefined], ''],
  ['those of the Linux set where only one is given', 'AWS', { vcpu: 2 }, ['4', '16384', '0'], ''],
  ['with the build of an image of your own', 'AWS', { isVersionGiven: true }, ['4', '16384', '0'], build],
  ['with the build of a public image', 'Azure', {}, ['4', '16384', '0'], build],
  ['without the build of an unknown image', 'Azure', { image: 'a:b:c:d' }, ['4', '16384', '0'], ''],
  ['in the providerSpec of vSphere', 'VSphere', {}, ['4', '16384', undefined], ''],
  ['given for vSphere', 'VSphere', { vcpu: 6, memoryMb: 20480 }, ['6', '20480', undefined], ''],
  ['in the providerSpec of Nutanix', 'Nutanix', {}, ['8', '16384', undefined], ''],
  ['given for Nutanix', 'Nutanix', { vcpu: 6, memoryMb: 20480 }, ['6', '20480', undefined], ''],
];

for (const [what, type, wishes, [vcpu, memoryMb, gpu], labels] of sizes) {
  test(`${type}: the autoscaler is told CPUs and memory, ${what}`, () => {
    const { object, notes } = make(type, wishes);
    const { annotations = {} } = object.metadata;
    expect(annotations['machine.openshift.io/vCPU']).toBe(vcpu);
    expect(annotations['machine.openshift.io/memoryMb']).toBe(memoryMb);
    expect(annotations['machine.openshift.io/GPU']).toBe(gpu);
    expect(annotations['capacity.cluster-autoscaler.kubernetes.io/labels']?.split(',')).toEqual(
      ['kubernetes.io/arch=amd64', 'kubernetes.io/os=windows', labels].filter(label => label !== ''),
    );
    expect(annotations['capacity.cluster-autoscaler.kubernetes.io/taints']).toBe('os=Windows:NoSchedule');
    expect(notes.some(note => note.includes('--memory-mb'))).toBe(vcpu === undefined);
  });
}

test('numbers of CPUs and memory change machines that have no types', () => {
  const wishes = { vcpu: 6, memoryMb: 20480 };
  expect(specIn(make('VSphere', wishes))).toMatchObject({ numCPUs: 6, numCoresPerSocket: 1, memoryMiB: 20480 });
  expect(specIn(make('VSphere', { vcpu: 8 }))).toMatchObject({ numCPUs: 8, numCoresPerSocket: 4, memoryMiB: 16384 });
  expect(specIn(make('Nutanix', wishes))).toMatchObject({ vcpuSockets: 6, vcpusPerSocket: 1, memorySize: '20480Mi' });
});

const imageRows: [PlatformType, image: string, want: Record<string, unknown>][] = [
  [
    'Azure',
    '/subscriptions/1-2/resourceGroups/rg/providers/Microsoft.Compute/images/win',
    {
      image: {
        publisher: '',
        offer: '',
        sku: '',
        version: '',
        resourceID: '/subscriptions/1-2/resourceGroups/rg/providers/Microsoft.Compute/images/win',
      },
    },
  ],
  [
    'Azure',
    'pub:off:2025-core:latest',
    {
      image: { publisher: 'pub', offer: 'off', sku: '2025-core', version: 'latest', resourceID: '' },
    },
  ],
  [
    'Nutanix',
    '0005b0f1-8f43-a0f2-02b7-3cecef193712',
    {
      image: { type: 'uuid', uuid: '0005b0f1-8f43-a0f2-02b7-3cecef193712' },
    },
  ],
  [
    'VSphere',
    '/dc1/vm/Golden images/Windows Server 2022 (core)',
    {
      template: '/dc1/vm/Golden images/Windows Server 2022 (core)',
    },
  ],
];
for (const [type, image, want] of imageRows) {
  test(`${type}: the image ${image}`, () => expect(specIn(make(type, { image }))).toMatchObject(want));
}

test('--windows-version selects the public image', () => {
  const version = releaseOf('2025');
  expect(specIn(make('Azure', { version }))).toMatchObject({ image: { sku: '2025-datacenter-smalldisk' } });
  expect(JSON.stringify(specIn(make('GCP', { version })))).toContain('family/windows-2025-core');
});

const another = (name: string, zone: string, change = {}) =>
  linuxSet({ ...linuxSpecs.AWS, placement: { availabilityZone: zone, region: 'eu-central-1' } }, { name, ...change });
const twoZones = [another('a', 'eu-central-1a'), another('b', 'eu-central-1b')];
const windowsOne = another('w', 'eu-central-1c', { labels: { 'machine.openshift.io/os-id': 'Windows' } });
const infra = another('i', 'eu-central-1d', { labels: { 'machine.openshift.io/cluster-api-machine-role': 'infra' } });

test('of several sets, --zone or --from chooses; sets for Windows and for other roles do not count', () => {
  const all = [...twoZones, windowsOne, infra];
  expect(make('AWS', { zone: 'eu-central-1b' }, all).object.metadata.name).toMatch(/-eu-central-1b$/);
  expect(make('AWS', { from: 'a' }, all).object.metadata.name).toMatch(/-eu-central-1a$/);
  expect(make('AWS', {}, [twoZones[0] ?? {}, windowsOne, infra]).object.metadata.name).toMatch(/-eu-central-1a$/);
});

test('from a set for Windows, the image stays unless another is given', () => {
  const wishes = { from: 'w', image: undefined, name: 'more' };
  expect(specIn(make('AWS', wishes, [windowsOne]))).toMatchObject({ ami: { id: 'ami-0c1f2e3d4b5a69788' } });
  expect(specIn(make('AWS', { from: 'w' }, [windowsOne]))).toMatchObject({ ami: { id: 'ami-0123456789abcdef0' } });
});

const arm = { ...knownSize, 'capacity.cluster-autoscaler.kubernetes.io/labels': 'x=y,kubernetes.io/arch=arm64' };
const armSet = linuxSet(linuxSpecs.AWS, { annotations: arm });
const twoAdapters = linuxSet({ ...linuxSpecs.VSphere, network: { devices: [{}, {}] } });
const noDisk = linuxSet({ ...linuxSpecs.GCP, disks: [{ boot: false }] });

test('a set for arm64 serves with a type for x86', () => {
  expect(specIn(make('AWS', { instanceType: 'm6i.large' }, [armSet]))).toMatchObject({ instanceType: 'm6i.large' });
});

type Refusal = [what: string, () => unknown, code: string, message: RegExp, remedy: RegExp];
const refusals: Refusal[] = [
  [
    'another platform',
    () => windowsSet(readObject(infrastructureOf('BareMetal')), [], noWishes),
    'MACHINE_SET_REFUSED',
    /Infrastructure cluster: the platform is "BareMetal".* AWS, Azure, GCP, VSphere, Nutanix/,
    /windows-instances/,
  ],
  [
    'a cluster without a name',
    () =>
      windowsSet(readObject({ ...infrastructureOf('AWS'), status: { platformStatus: { type: 'AWS' } } }), [], noWishes),
    'FIELD_INVALID',
    /status\.infrastructureName is missing/,
    /status\.infrastructureName/,
  ],
  ['no image on AWS', () => make('AWS', { image: undefined }), 'MACHINE_SET_UNCLEAR', /AMI/, /--image.*Server-2022-.*/],
  ['no template on vSphere', () => make('VSphere', { image: undefined }), 'MACHINE_SET_UNCLEAR', /template/, /--image/],
  ['no image on Nutanix', () => make('Nutanix', { image: undefined }), 'MACHINE_SET_UNCLEAR', /image/, /--image/],
  ['a wrong AMI', () => make('AWS', { image: 'windows' }), 'MACHINE_SET_REFUSED', /--image is "windows"/, /AMI/],
  ['a wrong image of Azure', () => make('Azure', { image: 'a:b' }), 'MACHINE_SET_REFUSED', /"a:b"/, /PUBLISHER:/],
  ['a wrong image of GCP', () => make('GCP', { image: 'win' }), 'MACHINE_SET_REFUSED', /"win"/, /projects/],
  [
    'a template with a line break',
    () => make('VSphere', { image: 'a\nb' }),
    'MACHINE_SET_REFUSED',
    /a\\nb/,
    /template/,
  ],
  [
    'a long name on vSphere',
    () => make('VSphere', { name: 'winworkers' }),
    'MACHINE_SET_REFUSED',
    /"winworkers", which has 10 characters: .*winworkers-x7k2q \(16 characters\), and on VSphere a computer name/,
    /at most 9 characters/,
  ],
  ['a long name on Azure', () => make('Azure', { name: 'winworkers' }), 'MACHINE_SET_REFUSED', /Azure/, /at most 9/],
  ['a long name on Nutanix', () => make('Nutanix', { name: 'winworkers' }), 'MACHINE_SET_REFUSED', /15/, /at most 9/],
  ['a long name on AWS', () => make('AWS', { name: 'a'.repeat(58) }), 'MACHINE_SET_REFUSED', /58/, /at most 57/],
  ['a wrong name', () => make('AWS', { name: 'Win_1' }), 'MACHINE_SET_REFUSED', /"Win_1"/, /--name/],
  ['two sets', () => make('AWS', {}, twoZones), 'MACHINE_SET_UNCLEAR', /a \(eu-central-1a\), b \(/, /--zone or --from/],
  [
    'two sets of a zone',
    () => make('AWS', {}, [another('a', 'z'), another('b', 'z')]),
    'MACHINE_SET_UNCLEAR',
    /2 MachineSets/,
    /with --from\./,
  ],
  ['an unknown zone', () => make('AWS', { zone: 'x' }, twoZones), 'OBJECT_MISSING', /zone "x".*eu-central-1b/, /zones/],
  ['no set', () => make('AWS', {}, [infra]), 'OBJECT_MISSING', /no MachineSet of Linux workers/, /--from.*: i\./],
  ['an unknown set', () => make('AWS', { from: 'x' }, twoZones), 'OBJECT_MISSING', /no MachineSet "x"/, /a, b/],
  [
    'arm64',
    () => make('AWS', {}, [armSet]),
    'MACHINE_SET_UNCLEAR',
    /winc-7qk4d-worker is for arm64/,
    /--instance-type/,
  ],
  ['a type on vSphere', () => make('VSphere', { instanceType: 'x' }), 'MACHINE_SET_REFUSED', /no types/, /--vcpu/],
  [
    '2019 on vSphere',
    () => make('VSphere', { version: releaseOf('2019') }),
    'MACHINE_SET_REFUSED',
    /2019/,
    /2022 or 2025/,
  ],
  ['two adapters', () => make('VSphere', {}, [twoAdapters]), 'MACHINE_SET_REFUSED', /2 network adapters/, /--from/],
  ['no boot disk', () => make('GCP', {}, [noDisk]), 'FIELD_INVALID', /disks has no boot disk/, /--from/],
  ['a damaged set', () => make('AWS', {}, [linuxSet('x' as never)]), 'FIELD_INVALID', /value is "x"/, /--from/],
];

for (const [what, run, code, message, remedy] of refusals) {
  test(`refuses ${what}`, () => {
    expect(run).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) as string }));
    expect(run).toThrow(expect.objectContaining({ remedy: expect.stringMatching(remedy) as string }));
  });
}

test('a damaged providerSpec is an error that names a field, never a bug', () => {
  const types = Object.keys(linuxSpecs) as PlatformType[];
  const change = fc
    .constantFrom(...types)
    .chain(type =>
      fc.tuple(fc.constant(type), fc.constantFrom(...Object.keys(linuxSpecs[type])), fc.jsonValue({ maxDepth: 2 })),
    );
  fc.assert(
    fc.property(change, ([type, name, value]) => {
      try {
        specIn(make(type, {}, [linuxSet({ ...linuxSpecs[type], [name]: value })]));
      } catch (error) {
        if (!isAppError(error)) throw error;
      }
    }),
  );
});
