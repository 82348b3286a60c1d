import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { readObject } from '#contract/object.ts';
import {
  ignitionFile,
  kubeletUnit,
  machineConfig,
  type MachineConfigParts,
  type PlainObject,
} from '../../test/kit/openshift-objects.ts';
import { errorOf } from '../../test/kit/outcome.ts';
import {
  latestRenderedWorker,
  readKubeletArguments,
  readWorkerConfig,
  summariseMachineConfig,
  type MachineConfigSummary,
} from './ignition.ts';

const withParts = (parts: MachineConfigParts) => readObject(machineConfig(parts));
const withConfig = (config: unknown) => readObject({ ...machineConfig(), spec: { config } });
const secretText = 'hunter2-in-the-config';

const summary = (name: string, creationTimestamp: string, hasConfig = true): MachineConfigSummary => ({
  name,
  creationTimestamp,
  hasConfig,
});

const choices: [name: string, configs: MachineConfigSummary[], want: string][] = [
  ['the only one', [summary('rendered-worker-a', '2026-01-01T00:00:00Z')], 'rendered-worker-a'],
  [
    'the newest, listed last',
    [summary('rendered-worker-a', '2026-01-01T00:00:00Z'), summary('rendered-worker-b', '2026-02-01T00:00:00Z')],
    'rendered-worker-b',
  ],
  [
    'the newest, listed first',
    [summary('rendered-worker-b', '2026-02-01T00:00:00Z'), summary('rendered-worker-a', '2026-01-01T00:00:00Z')],
    'rendered-worker-b',
  ],
  [
    'a worker although a master is newer',
    [summary('rendered-worker-a', '2026-01-01T00:00:00Z'), summary('rendered-master-b', '2026-02-01T00:00:00Z')],
    'rendered-worker-a',
  ],
  [
    'an older one when the newest has no config',
    [summary('rendered-worker-a', '2026-01-01T00:00:00Z'), summary('rendered-worker-b', '2026-02-01T00:00:00Z', false)],
    'rendered-worker-a',
  ],
  [
    'by time, not by text',
    [summary('rendered-worker-a', '2026-01-01T00:30:00+01:00'), summary('rendered-worker-b', '2026-01-01T00:00:00Z')],
    'rendered-worker-b',
  ],
  [
    'the first by name of the same second',
    [summary('rendered-worker-b', '2026-01-01T00:00:00Z'), summary('rendered-worker-a', '2026-01-01T00:00:00Z')],
    'rendered-worker-a',
  ],
  [
    'one with a time over one without',
    [summary('rendered-worker-a', ''), summary('rendered-worker-b', '2026-01-01T00:00:00Z')],
    'rendered-worker-b',
  ],
  ['one whose time cannot be read, if there is no other', [summary('rendered-worker-a', 'soon')], 'rendered-worker-a'],
];
for (const [name, configs, want] of choices)
  test(`chooses ${name}`, () => expect(latestRenderedWorker(configs).name).toBe(want));

const none: [name: string, configs: MachineConfigSummary[]][] = [
  ['nothing', []],
  ['parts that are not rendered', [summary('00-worker', '2026-01-01T00:00:00Z')]],
  ['a config without content', [summary('rendered-worker-a', '2026-01-01T00:00:00Z', false)]],
  ['a config for masters', [summary('rendered-master-a', '2026-01-01T00:00:00Z')]],
  ['a name with the prefix inside', [summary('x-rendered-worker-a', '2026-01-01T00:00:00Z')]],
];
for (const [name, configs] of none)
  test(`finds no rendered worker config among ${name}`, () => {
    const error = errorOf(() => latestRenderedWorker(configs));
    expect(error?.code).toBe('RENDERED_WORKER_MISSING');
    expect(error?.message).toContain('rendered worker MachineConfig not found');
    expect(error?.remedy).toContain('oc get machineconfigs');
  });

test('does not change the order of the list it is given', () => {
  const configs = [
    summary('rendered-worker-a', '2026-01-01T00:00:00Z'),
    summary('rendered-worker-b', '2026-02-01T00:00:00Z'),
  ];
  latestRenderedWorker(configs);
  expect(configs.map(config => config.name)).toEqual(['rendered-worker-a', 'rendered-worker-b']);
});

test('the choice does not depend on the order of the list', () => {
  const names = fc.stringMatching(/^[a-f0-9]{4}$/).map(hash => `rendered-worker-${hash}`);
  const times = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z');
  const configs = fc.uniqueArray(fc.tuple(names, times), { minLength: 1, selector: ([name]) => name });
  fc.assert(
    fc.property(configs, list => {
      const summaries = list.map(([name, time]) => summary(name, time));
      expect(latestRenderedWorker(summaries)).toEqual(latestRenderedWorker(summaries.toReversed()));
    }),
    { numRuns: 500 },
  );
});

const contents: [name: string, spec: unknown, hasConfig: boolean][] = [
  ['an object', { config: { ignition: {} } }, true],
  ['a text', { config: '{"ignition":{}}' }, true],
  ['an empty object', { config: {} }, true],
  ['an empty text', { config: '' }, false],
  ['null', { config: null }, false],
  ['nothing', {}, false],
  ['no spec', undefined, false],
  ['a spec that is a text', 'config', false],
];
for (const [name, spec, hasConfig] of contents)
  test(`a MachineConfig whose config is ${name} ${hasConfig ? 'counts' : 'does not count'}`, () => {
    const object = readObject({ ...machineConfig(), spec });
    expect(summariseMachineConfig(object)).toEqual({
      name: 'rendered-worker-5d0c8f8b',
      creationTimestamp: '2026-03-01T08:00:00Z',
      hasConfig,
      object,
    });
  });

test('reads the kubelet unit and the files of a config that is an object', () => {
  const config = readWorkerConfig(withParts({ unit: 'U', files: [ignitionFile('/etc/a', 'A'), { path: '/etc/b' }] }));
  expect(config).toEqual({
    label: 'MachineConfig rendered-worker-5d0c8f8b',
    kubeletUnit: 'U',
    files: [
      { path: '/etc/a', source: 'data:text/plain;charset=utf-8;base64,QQ==', compression: '' },
      { path: '/etc/b', source: undefined, compression: '' },
    ],
    authorizedKeys: [],
  });
});

const passwds: [name: string, passwd: unknown, want: string[]][] = [
  [
    'of all users',
    {
      users: [
        { name: 'core', sshAuthorizedKeys: ['a', 'b'] },
        { name: 'x', sshAuthorizedKeys: ['c'] },
      ],
    },
    ['a', 'b', 'c'],
  ],
  ['that are texts', { users: [{ sshAuthorizedKeys: ['a', 1, null, { b: 1 }, ['c']] }] }, ['a']],
  [
    'of users that have some',
    { users: [null, 'core', [], { sshAuthorizedKeys: 'a' }, { sshAuthorizedKeys: null }, {}] },
    [],
  ],
  ['not without a list of users', { users: { sshAuthorizedKeys: ['a'] } }, []],
  ['not without users', 'core', []],
  ['not without a section', undefined, []],
  [
    'but no more than a thousand',
    { users: [{ sshAuthorizedKeys: Array<string>(3000).fill('a') }] },
    Array<string>(1000).fill('a'),
  ],
];
for (const [name, passwd, want] of passwds)
  test(`reads authorized keys ${name}`, () => {
    const config = { ignition: { version: '3.4.0' }, ...(passwd !== undefined && { passwd }) };
    expect(readWorkerConfig(withConfig(config)).authorizedKeys).toEqual(want);
  });

test('reads a config that is JSON in a text', () => {
  const config = machineConfig({ unit: 'U' })['spec'] as { config: PlainObject };
  expect(readWorkerConfig(withConfig(JSON.stringify(config.config))).kubeletUnit).toBe('U');
});

for (const version of ['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0', '3.5.1'])
  test(`reads ignition ${version}`, () =>
    expect(readWorkerConfig(withConfig({ ignition: { version } }))).toMatchObject({
      files: [],
      kubeletUnit: undefined,
    }));

const versions = [
  '2.2.0',
  '3.6.0',
  '3.6.0-experimental',
  '3.5.0-experimental',
  '3.10.0',
  '4.0.0',
  '3.5',
  '3',
  '',
  'v3.5.0',
];
for (const version of [...versions, 3.5, null, undefined, {}])
  test(`refuses ignition ${JSON.stringify(version)}`, () => {
    const error = errorOf(() => readWorkerConfig(withConfig({ ignition: { version } })));
    expect(error?.code).toBe('IGNITION_MALFORMED');
    expect(error?.message).toContain('MachineConfig rendered-worker-5d0c8f8b: ignition version is');
    expect(error?.message).toContain(JSON.stringify(version) ?? 'missing');
    expect(error?.message).toContain('3.0 to 3.5');
  });

const noConfigs: [name: string, config: unknown][] = [
  ['missing', undefined],
  ['null', null],
  ['a text that is no JSON', `{"password": "${secretText}"`],
  ['a JSON text that is no object', JSON.stringify([secretText])],
  ['a JSON null', 'null'],
  ['a list', [secretText]],
  ['a number', 7],
];
for (const [name, config] of noConfigs)
  test(`refuses as ignition config ${name}, without showing it`, () => {
    const error = errorOf(() => readWorkerConfig(withConfig(config)));
    expect(error?.code).toBe('IGNITION_MALFORMED');
    expect(error?.message).toBe(
      'MachineConfig rendered-worker-5d0c8f8b: spec.config is not an ignition config in JSON',
    );
    expect(error?.remedy).not.toBe('');
    expect(error?.cause).toBeUndefined();
  });

const wrongLists: [name: string, config: PlainObject, field: string][] = [
  ['units that are an object', { systemd: { units: {} } }, 'systemd.units'],
  ['units that are a text', { systemd: { units: secretText } }, 'systemd.units'],
  ['a systemd section that is a list', { systemd: [] }, 'systemd.units'],
  ['files that are an object', { storage: { files: { a: secretText } } }, 'storage.files'],
  ['a storage section that is a text', { storage: secretText }, 'storage.files'],
];
for (const [name, config, field] of wrongLists)
  test(`refuses ${name}, without showing them`, () => {
    const error = errorOf(() => readWorkerConfig(withParts({ config })));
    expect(error?.code).toBe('IGNITION_MALFORMED');
    expect(error?.message).toBe(`MachineConfig rendered-worker-5d0c8f8b: spec.config.${field} is not a list`);
  });

const emptySections: [name: string, config: PlainObject][] = [
  ['no sections', { systemd: undefined, storage: undefined }],
  ['null sections', { systemd: null, storage: null }],
  ['empty sections', { systemd: {}, storage: {} }],
  ['null lists', { systemd: { units: null }, storage: { files: null } }],
];
for (const [name, config] of emptySections)
  test(`finds nothing in ${name}`, () => {
    expect(readWorkerConfig(withParts({ config }))).toMatchObject({ kubeletUnit: undefined, files: [] });
  });

test('passes over entries that are no objects', () => {
  const config = readWorkerConfig(
    withParts({
      config: {
        systemd: { units: [null, 'kubelet.service', 3, [], { name: 'kubelet.service', contents: 'U' }] },
        storage: { files: [null, '/etc/a', 3, [], { path: '/etc/a' }] },
      },
    }),
  );
  expect([config.kubeletUnit, config.files.length]).toEqual(['U', 1]);
});

const strangeFiles: [name: string, entry: PlainObject, want: PlainObject][] = [
  ['a path that is no text', { path: 7 }, { path: '' }],
  ['contents that are a text', { path: '/a', contents: secretText }, { source: undefined, compression: '' }],
  ['a source that is null', { path: '/a', contents: { source: null } }, { source: undefined }],
  ['a source that is an object', { path: '/a', contents: { source: {} } }, { source: undefined }],
  ['a compression that is null', { path: '/a', contents: { compression: null } }, { compression: '' }],
  ['a compression that is no text', { path: '/a', contents: { compression: 5 } }, { compression: 'unknown' }],
  ['a compression', { path: '/a', contents: { compression: 'gzip' } }, { compression: 'gzip' }],
];
for (const [name, entry, want] of strangeFiles)
  test(`reads a file with ${name}`, () => {
    expect(readWorkerConfig(withParts({ files: [entry] })).files[0]).toMatchObject(want);
  });

test('takes the kubelet options from the unit of a config', () => {
  const config = readWorkerConfig(withParts({ unit: kubeletUnit(['--cloud-provider=external']) }));
  expect(readKubeletArguments(config)).toEqual({ 'cloud-provider': 'external' });
});

const noUnits: [name: string, units: unknown[]][] = [
  ['no unit', []],
  ['another unit', [{ name: 'crio.service', contents: 'ExecStart=x' }]],
  ['an empty unit', [{ name: 'kubelet.service', contents: '' }]],
  ['a unit without contents', [{ name: 'kubelet.service', enabled: true }]],
  ['contents that are no text', [{ name: 'kubelet.service', contents: {} }]],
];
for (const [name, units] of noUnits)
  test(`misses the kubelet unit in a config with ${name}`, () => {
    const config = readWorkerConfig(withParts({ config: { systemd: { units } } }));
    const error = errorOf(() => readKubeletArguments(config));
    expect(error?.code).toBe('KUBELET_UNIT_MALFORMED');
    expect(error?.message).toBe('MachineConfig rendered-worker-5d0c8f8b: kubelet.service is missing or empty');
    expect(error?.remedy).not.toBe('');
  });

test('names the MachineConfig whose kubelet unit has no command', () => {
  const config = readWorkerConfig(withParts({ unit: '[Service]\n' }));
  const message = errorOf(() => readKubeletArguments(config))?.message;
  expect(message).toBe('MachineConfig rendered-worker-5d0c8f8b: kubelet.service: unit missing ExecStart');
});

test('throws only AppErrors, without content of the config', () => {
  const junk = fc.jsonValue().map(value => (typeof value === 'string' ? secretText : value));
  const section = fc.oneof(junk, fc.record({ units: junk, files: junk }), fc.record({ units: fc.array(junk) }));
  const config = fc.record({ ignition: fc.constant({ version: '3.4.0' }), systemd: section, storage: section });
  fc.assert(
    fc.property(fc.oneof(junk, config), value => {
      const result = attempt(() => readKubeletArguments(readWorkerConfig(withConfig(value))));
      if (!result.ok) expect(result.error.message).not.toContain(secretText);
    }),
    { numRuns: 2000 },
  );
});

test('throws only AppErrors for JSON with a few characters changed', () => {
  const text = JSON.stringify(
    (machineConfig({ files: [ignitionFile('/etc/a', 'A')] })['spec'] as PlainObject)['config'],
  );
  const change = fc.tuple(
    fc.nat(text.length - 1),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', '\\', '0', 'null'),
  );
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), changes => {
      const mutated = changes.reduce((now, [at, put]) => now.slice(0, at) + put + now.slice(at + 1), text);
      attempt(() => readKubeletArguments(readWorkerConfig(withConfig(mutated))));
    }),
    { numRuns: 2000 },
  );
});
