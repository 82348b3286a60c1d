import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { infrastructureOf, linuxSet, linuxSpecs } from '../../../test/kit/machine-sets.ts';
import { knownSize, make, noWishes, type PlatformType, releaseOf, specIn } from '../../../test/kit/windows-sets.ts';
import { isAppError } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import { windowsSet } from './windows-set.ts';

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
