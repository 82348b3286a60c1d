import { expect, test } from 'vitest';
import { windowsInstanceCrd } from './crd.ts';
import {
  instanceCondition,
  instancePhases,
  instanceSources,
  type WindowsInstanceSpec,
  type WindowsInstanceStatus,
} from './resource.ts';

interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
  pattern?: string;
  required?: string[];
  additionalProperties?: Schema;
}
interface Crd {
  metadata: { name: string };
  spec: {
    group: string;
    scope: string;
    names: { plural: string; kind: string; shortNames: string[]; categories: string[] };
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      subresources: object;
      additionalPrinterColumns: { name: string; jsonPath: string; priority?: number; description: string }[];
      schema: { openAPIV3Schema: Schema };
    }[];
  };
}

const crd = windowsInstanceCrd() as Crd;
const [version] = crd.spec.versions;
const schema = version?.schema.openAPIV3Schema ?? {};

test('is named after its plural and group, as the API server demands', () => {
  expect(crd.metadata.name).toBe(`${crd.spec.names.plural}.${crd.spec.group}`);
  expect(crd.spec).toMatchObject({ group: 'windowsmachineconfig.openshift.io', scope: 'Namespaced' });
  expect(crd.spec.names).toMatchObject({
    kind: 'WindowsInstance',
    shortNames: ['wi'],
    categories: ['windows'],
  });
});

test('has one version, served and stored, with a status of its own', () => {
  expect(crd.spec.versions).toHaveLength(1);
  expect(version).toMatchObject({ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } });
});

const columns = version?.additionalPrinterColumns ?? [];
const namesOf = (list: typeof columns) => list.map(({ name }) => name);

test('kubectl shows node, phase, step, reason and age, and more with -o wide', () => {
  expect(namesOf(columns.filter(({ priority = 0 }) => priority === 0))).toEqual([
    'Node',
    'Phase',
    'Step',
    'Reason',
    'Age',
  ]);
  expect(namesOf(columns.filter(({ priority }) => priority === 1))).toEqual([
    'Address',
    'Source',
    'User',
    'IPv4',
    'Kubelet',
    'Journey',
    'Version',
    'Next Attempt',
  ]);
  for (const { name, description } of columns) expect(description, name).toMatch(/\.$/);
});

test('the default columns fit into 120 characters, even for a DNS name and the longest step and reason', () => {
  const widest = [
    'win1.winc.example.com',
    'WIN-ABCDEFGHIJK',
    'reboot for settings',
    'INSTANCE_ADDRESS_UNRESOLVED',
    '365d',
  ];
  const phase = Math.max(...instancePhases.map(({ length }) => length));
  const gaps = 3 * widest.length;
  expect(widest.join('').length + phase + gaps).toBeLessThanOrEqual(120);
});

test('every printed column exists in the schema', () => {
  for (const { jsonPath } of columns) {
    const names = jsonPath
      .replace(/\[\?.*?\]/, '')
      .split('.')
      .slice(1);
    if (names[0] === 'metadata') continue;
    let at: Schema | undefined = schema;
    for (const name of names) at = at?.items?.properties?.[name] ?? at?.properties?.[name];
    expect(at, jsonPath).toBeDefined();
  }
});

test('a column about a condition names one that the operator sets', () => {
  const types = columns.flatMap(({ jsonPath }) => /@\.type=="(\w+)"/.exec(jsonPath)?.[1] ?? []);
  expect(types).toEqual([instanceCondition.ready, instanceCondition.kubeletReachable]);
});

test('is a structural schema: every value has a type', () => {
  const untyped: string[] = [];
  const visit = (at: Schema, path: string) => {
    if (at.type === undefined) untyped.push(path);
    for (const [name, child] of Object.entries(at.properties ?? {})) visit(child, `${path}.${name}`);
    if (at.items) visit(at.items, `${path}[]`);
    if (at.additionalProperties) visit(at.additionalProperties, `${path}{}`);
  };
  visit(schema, '');
  expect(untyped).toEqual([]);
});

/** The name of a field in words: `keySecret` is "key secret". */
const wordsOf = (name: string) => name.replace(/[A-Z]+/g, part => ` ${part.toLowerCase()}`).trim();

test('kubectl explain describes every field in a sentence that says more than its name', () => {
  const visit = (at: Schema, path: string) => {
    const { description = '' } = at;
    const name = path.split(/[.[{]/).at(-1) ?? '';
    expect(description, path).toMatch(/^[A-Z].{9,}\.$/);
    expect(description.toLowerCase(), path).not.toBe(`${wordsOf(name)}.`);
    for (const [child, member] of Object.entries(at.properties ?? {})) visit(member, `${path}.${child}`);
    if (at.items) visit(at.items, `${path}[]`);
    if (at.additionalProperties) visit(at.additionalProperties, `${path}{}`);
  };
  visit(schema, 'windowsinstance');
});

test('the description of a condition names every type that the operator sets', () => {
  const { description = '' } =
    schema.properties?.['status']?.properties?.['conditions']?.items?.properties?.['type'] ?? {};
  for (const type of Object.values(instanceCondition)) expect(description).toContain(`${type}: `);
});

test('address and user are all that is required', () => {
  expect(schema.required).toEqual(['spec']);
  expect(schema.properties?.['spec']?.required).toEqual(['address', 'username']);
});

test('phases and sources are those of the types', () => {
  expect(schema.properties?.['status']?.properties?.['phase']?.enum).toEqual([...instancePhases]);
  expect(schema.properties?.['spec']?.properties?.['source']?.properties?.['kind']?.enum).toEqual([...instanceSources]);
});

/** Every member of the types is here: the compiler insists. */
const fullSpec: Required<WindowsInstanceSpec> = {
  address: 'win1.example.com',
  port: 2222,
  username: 'Administrator',
  keySecret: { name: 'other-key', key: 'id.pem' },
  hostKey: 'ssh-ed25519 AAAA',
  hostname: 'win1',
  source: { kind: 'Direct', name: 'x' },
  labels: { zone: 'a' },
  taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }],
  paused: false,
  servingNames: ['win1.corp.example'],
};
const fullStatus: Required<WindowsInstanceStatus> = {
  phase: 'Ready',
  step: 'uncordon',
  nextAttempt: '',
  progress: { bytes: 1, totalBytes: 2, started: '' },
  activity: { since: '', waitsFor: '', usualSeconds: 1, limitSeconds: 2, remedy: '' },
  journey: { name: 'configure', cause: 'it has no Node', started: '2026-03-01T12:00:00Z' },
  reboot: { bootId: 'boot-1', because: 'it is renamed' },
  node: 'win1',
  nodeUID: 'u-1',
  hostKey: 'ssh-ed25519 AAAA',
  key: {
    hash: 'ab',
    fingerprint: 'ssh-ed25519 SHA256:x',
    former: ['cd'],
    pending: { hash: 'ef', since: '', tried: '', retry: '' },
  },
  host: { name: 'win1', addresses: ['10.0.0.4'] },
  touched: '2026-03-01T12:00:00Z',
  certifiedName: 'win1',
  tokens: [{ id: 'JTI=1', use: 'agent', expires: '' }],
  agent: { keyHash: 'ab', installed: '', certificateEnds: '' },
  cloudNode: { keyHash: 'cd', installed: '', certificateEnds: '' },
  ipv4: '10.0.0.4',
  version: '11.0.0-abc1234',
  upgrade: {
    from: '10.0.0',
    to: '11.0.0',
    fromAgent: 'ab',
    repeated: '2026-01-01T00:00:00Z',
    staged: '',
    activated: '',
    ready: '',
    soaked: '',
    failed: { code: 'X', message: '', at: '' },
    rolledBack: '',
    retry: '',
    settings: { files: 'a', services: 'b', proxy: true },
  },
  settings: {
    files: { desired: 'b', applied: 'a', at: '', failed: { code: 'X', message: '', at: '' } },
    services: { desired: 'b', applied: 'a', at: '', failed: { code: 'X', message: '', at: '' } },
    mirrors: ['quay.io\\hosts.toml'],
    proxy: true,
  },
  reboots: [''],
  rebootRequest: '1',
  observedGeneration: 1,
  conditions: [
    { type: 'Ready', status: 'True', reason: 'Joined', message: '', lastTransitionTime: '', observedGeneration: 1 },
  ],
  timeline: [
    {
      name: 'connect',
      started: '',
      firstStarted: '',
      finished: '',
      attempts: 1,
      lastError: { code: 'X', message: '', remedy: '' },
    },
  ],
};

test('the schema has exactly the members of the types, all the way down', () => {
  const compare = (value: unknown, at: Schema | undefined, path: string) => {
    expect(at, path).toBeDefined();
    if (Array.isArray(value)) compare(value[0], at?.items, `${path}[]`);
    else if (typeof value === 'object' && value !== null && at?.additionalProperties === undefined) {
      expect(Object.keys(at?.properties ?? {}).sort(), path).toEqual(Object.keys(value).sort());
      for (const [name, member] of Object.entries(value)) compare(member, at?.properties?.[name], `${path}.${name}`);
    }
  };
  compare(fullSpec, schema.properties?.['spec'], 'spec');
  compare(fullStatus, schema.properties?.['status'], 'status');
});

const addresses: [string, boolean][] = [
  ['10.1.42.1', true],
  ['win1', true],
  ['Win-1.example.com', true],
  ['a', true],
  ['', false],
  ['-win', false],
  ['win-', false],
  ['win_1', false],
  ['fd00::1', false],
  ['a b', false],
];
for (const [address, good] of addresses) {
  test(`${good ? 'accepts' : 'refuses'} the address "${address}"`, () => {
    const pattern = new RegExp(schema.properties?.['spec']?.properties?.['address']?.pattern ?? '$^');
    expect(pattern.test(address)).toBe(good);
  });
}
