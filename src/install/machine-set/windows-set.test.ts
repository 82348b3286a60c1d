import { expect, test } from 'vitest';
import { infrastructureName, linuxSet, linuxSpecs } from '../../../test/kit/machine-sets.ts';
import { knownSize, make, type PlatformType, releaseOf, specIn } from '../../../test/kit/windows-sets.ts';
import type { WindowsSet, WindowsSetWishes } from './windows-set.ts';

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
        sku: '2022-datacenter-smalldisk-g2',
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
    [/securityProfile\.settings .* left out/],
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
  expect(specIn(make('Azure', { version }))).toMatchObject({ image: { sku: '2025-datacenter-smalldisk-g2' } });
  expect(JSON.stringify(specIn(make('GCP', { version })))).toContain('family/windows-2025-core');
});

const profiles: [before: object, after: object | undefined, notes: number][] = [
  [{ encryptionAtHost: true }, { encryptionAtHost: true }, 0],
  [{ encryptionAtHost: true, settings: {} }, { encryptionAtHost: true, settings: {} }, 0],
  [{ encryptionAtHost: true, settings: { securityType: 'TrustedLaunch' } }, { encryptionAtHost: true }, 1],
  [{ settings: { securityType: 'ConfidentialVM' } }, undefined, 1],
];
for (const [securityProfile, after, count] of profiles) {
  test(`Azure: of ${JSON.stringify(securityProfile)} stays what any image can have`, () => {
    const made = make('Azure', {}, [linuxSet({ ...linuxSpecs.Azure, securityProfile }, { annotations: knownSize })]);
    expect([specIn(made)['securityProfile'], made.notes.length]).toEqual([after, count]);
  });
}

const generations: [image: Record<string, string>, more: Record<string, unknown>, generation: 1 | 2][] = [
  [{ resourceID: '/resourceGroups/rg/providers/Microsoft.Compute/images/rhcos' }, {}, 1],
  [
    { resourceID: '/resourceGroups/rg/providers/Microsoft.Compute/galleries/g/images/rhcos-gen2/versions/latest' },
    {},
    2,
  ],
  [{ publisher: 'azureopenshift', offer: 'aro4', sku: 'aro_419', resourceID: '' }, {}, 1],
  [{ publisher: 'azureopenshift', offer: 'aro4', sku: '419-v2', resourceID: '' }, {}, 2],
  [{ publisher: 'redhat', offer: 'rh-ocp-worker', sku: 'rh-ocp-worker', resourceID: '' }, {}, 2],
  [{ publisher: 'redhat', offer: 'rh-ocp-worker', sku: 'rh-ocp-worker-gen1', resourceID: '' }, {}, 1],
  [
    { resourceID: '/resourceGroups/rg/providers/Microsoft.Compute/images/rhcos' },
    { securityProfile: { settings: { securityType: 'TrustedLaunch' } } },
    2,
  ],
];
for (const [image, more, generation] of generations) {
  test(`Azure: the public image is of generation ${generation} for ${image['sku'] ?? image['resourceID']}${more['securityProfile'] ? ', secured' : ''}`, () => {
    const { securityProfile: _, ...spec } = linuxSpecs.Azure;
    const made = make('Azure', {}, [linuxSet({ ...spec, ...more, image })]);
    const sku = `2022-datacenter-smalldisk${generation === 2 ? '-g2' : ''}`;
    expect(specIn(made)).toMatchObject({ image: { sku } });
  });
}

for (const deviceName of ['/dev/xvda', '/dev/sda1']) {
  test(`AWS: the disk ${deviceName} is the root disk and listed once, and other disks stay`, () => {
    const data = { deviceName: '/dev/xvdb', ebs: { volumeSize: 10 } };
    const blockDevices = [{ deviceName, ebs: { volumeSize: 200 } }, data];
    const made = make('AWS', {}, [linuxSet({ ...linuxSpecs.AWS, blockDevices })]);
    expect(specIn(made)['blockDevices']).toEqual([{ ebs: { volumeSize: 200, volumeType: 'gp3' } }, data]);
  });
}
