import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { repositoryRoot } from '../../../test/kit/run-wmco.ts';
import { kubeletConfig } from './kubelet-config.ts';
import { kubeletFields, refusedFields } from './kubelet-fields.ts';
import { kubeletProblems, kubeletSettingsFor, readKubeletProfiles } from './kubelet-settings.ts';

const label = 'ConfigMap wmco/windows-kubelet-config';
const read = (data: Record<string, unknown>) =>
  readKubeletProfiles(
    Object.fromEntries(
      Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
    label,
  );
const configOf = (settings = {}) =>
  JSON.parse(kubeletConfig('10.96.0.10', undefined, settings)) as Record<string, unknown>;

test('reads YAML and JSON', () => {
  const { profiles, problems } = read({
    yaml: 'selector: {pool: large}\npriority: 5\nkubelet:\n  maxPods: 100\n  systemReserved:\n    cpu: 1\n    memory: 4Gi\n',
    json: { kubelet: { serializeImagePulls: true } },
  });
  expect(problems).toEqual([]);
  expect(profiles).toMatchObject([
    { name: 'json', priority: 0, selector: {}, settings: { serializeImagePulls: true } },
    {
      name: 'yaml',
      priority: 5,
      selector: { pool: 'large' },
      settings: { maxPods: 100, systemReserved: { cpu: '1', memory: '4Gi' } },
    },
  ]);
});

test('a missing or empty ConfigMap has no profiles and no problems', () => {
  expect(readKubeletProfiles(undefined, label)).toEqual({ profiles: [], problems: [] });
  expect(readKubeletProfiles({}, label)).toEqual({ profiles: [], problems: [] });
});

const good: [name: string, kubelet: object][] = [
  ['limits', { maxPods: 1, containerLogMaxFiles: 2, kubeAPIQPS: 1000, registryPullQPS: 0 }],
  ['every resource', { kubeReserved: { cpu: '0', memory: '512Mi', 'ephemeral-storage': '1e9' } }],
  ['thresholds', { evictionHard: { 'memory.available': '500Mi', 'nodefs.available': '12.5%' } }],
  [
    'soft eviction above the hard one',
    { evictionSoft: { 'nodefs.available': '20%' }, evictionSoftGracePeriod: { 'nodefs.available': '2m' } },
  ],
  ['one image threshold that fits the default of the other', { imageGCLowThresholdPercent: 84 }],
  ['an age of images', { imageMinimumGCAge: '1h', imageMaximumGCAge: '168h' }],
  ['parallel pulls', { maxParallelImagePulls: 5 }],
];
for (const [name, kubelet] of good) {
  test(`accepts ${name}`, () => {
    const { profiles, problems } = read({ p: { kubelet } });
    expect(problems).toEqual([]);
    expect(configOf(kubeletSettingsFor(profiles).settings)).toMatchObject(kubelet);
  });
}

const bad: [name: string, value: unknown, message: string, remedy: string][] = [
  ['text', 'just text', '"p" is not a YAML object', 'write members selector, priority, kubelet'],
  ['broken YAML', '{', '"p" is not a YAML object', 'write members'],
  ['a text that is too long', ' '.repeat(10_001), 'has more than 10000 characters', 'write members'],
  ['no settings', { selector: {} }, 'kubelet is missing, not a map', 'set kubelet to a map'],
  ['an unknown member', { kublet: {} }, '"kublet" is not a member of a profile', 'use kubelet'],
  ['a selector that is no map', { selector: 'a=b', kubelet: { maxPods: 9 } }, 'selector is "a=b"', 'a map of labels'],
  [
    'a label that is no text',
    { selector: { a: 1 }, kubelet: { maxPods: 9 } },
    'selector is {"a":1}',
    'a map of labels',
  ],
  ['a priority that is no number', { priority: '1', kubelet: { maxPods: 9 } }, 'priority is "1"', 'an integer from'],
  ['no pods', { kubelet: { maxPods: 0 } }, 'kubelet.maxPods is 0, not an integer from 1 to 500', 'set kubelet.maxPods'],
  ['too many pods', { kubelet: { maxPods: 501 } }, 'kubelet.maxPods is 501', 'an integer from 1 to 500'],
  ['pods as text', { kubelet: { maxPods: '100' } }, 'kubelet.maxPods is "100"', 'an integer from 1 to 500'],
  ['half a pod', { kubelet: { maxPods: 1.5 } }, 'kubelet.maxPods is 1.5', 'an integer from 1 to 500'],
  [
    'a misspelled field',
    { kubelet: { maxpods: 9 } },
    '"maxpods" is not a kubelet setting of Windows nodes',
    'use maxPods',
  ],
  [
    'a field of Linux',
    { kubelet: { podPidsLimit: 9 } },
    'podPidsLimit cannot be set: it has no effect on Windows',
    'remove podPidsLimit',
  ],
  ['a field of the operator', { kubelet: { clusterDNS: [] } }, 'clusterDNS cannot be set: the operator', 'remove'],
  [
    'a broken quantity',
    { kubelet: { systemReserved: { cpu: 'half' } } },
    'systemReserved is {"cpu":"half"}',
    'cpu: 500m',
  ],
  [
    'a negative quantity',
    { kubelet: { kubeReserved: { memory: '-1Gi' } } },
    'kubeReserved is {"memory":"-1Gi"}',
    'a map',
  ],
  ['process ids', { kubelet: { systemReserved: { pid: '100' } } }, 'systemReserved is {"pid":"100"}', 'cpu, memory'],
  ['inodes', { kubelet: { evictionHard: { 'nodefs.inodesFree': '5%' } } }, 'evictionHard is', 'nodefs.available'],
  ['a threshold of zero', { kubelet: { evictionHard: { 'nodefs.available': '0Mi' } } }, 'evictionHard is', 'from 1%'],
  [
    'a threshold that evicts at once',
    { kubelet: { evictionHard: { 'nodefs.available': '95%' } } },
    'evictionHard',
    '50%',
  ],
  [
    'a log size without a unit',
    { kubelet: { containerLogMaxSize: '50' } },
    'containerLogMaxSize is "50"',
    'such as 50Mi',
  ],
  ['a bad duration', { kubelet: { imageMinimumGCAge: '2 minutes' } }, 'imageMinimumGCAge is "2 minutes"', 'such as 2m'],
  ['a negative duration', { kubelet: { imageMinimumGCAge: '-2m' } }, 'imageMinimumGCAge is "-2m"', 'zero or more'],
  [
    'image thresholds in the wrong order',
    { kubelet: { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 60 } },
    'imageGCLowThresholdPercent (60) is not below imageGCHighThresholdPercent (60)',
    'below',
  ],
  [
    'an image threshold that does not fit the default of the other',
    { kubelet: { imageGCHighThresholdPercent: 70 } },
    'imageGCLowThresholdPercent (80) is not below imageGCHighThresholdPercent (70)',
    'below',
  ],
  [
    'soft eviction without a grace period',
    { kubelet: { evictionSoft: { 'memory.available': '1Gi' } } },
    'do not both have memory.available',
    'set memory.available in evictionSoft and in evictionSoftGracePeriod',
  ],
  [
    'a grace period without soft eviction',
    { kubelet: { evictionSoftGracePeriod: { 'memory.available': '1m' } } },
    'do not both have memory.available',
    'set memory.available',
  ],
  [
    'soft eviction after the hard one',
    { kubelet: { evictionSoft: { 'nodefs.available': '5%' }, evictionSoftGracePeriod: { 'nodefs.available': '2m' } } },
    'evictionSoft has nodefs.available 5%, not above the 10% of evictionHard',
    'higher',
  ],
  ['a short age of images', { kubelet: { imageMaximumGCAge: '1m' } }, 'imageMaximumGCAge is not above', 'or to 0s'],
  [
    'pulls both in turn and in parallel',
    { kubelet: { serializeImagePulls: true, maxParallelImagePulls: 3 } },
    'maxParallelImagePulls is 3, but serializeImagePulls is true',
    'remove maxParallelImagePulls',
  ],
];
for (const [name, value, message, remedy] of bad) {
  test(`ignores a profile with ${name}, and uses the others`, () => {
    const { profiles, problems } = read({ p: value, q: { kubelet: { maxPods: 7 } } });
    expect(profiles.map(profile => profile.name)).toEqual(['q']);
    expect(problems.map(({ code }) => code)).toEqual(problems.map(() => 'KUBELET_SETTING_INVALID'));
    const texts = problems.map(problem => `${problem.message} -> ${problem.remedy}`).join('\n');
    expect(texts).toContain(`${label}: "p"`);
    expect(texts).toContain(message);
    expect(texts).toContain(remedy);
    expect(texts).toContain('the whole profile is ignored');
  });
}

test('reports all problems of a profile', () => {
  expect(read({ p: { kubelet: { maxPods: 0, podPidsLimit: 1 }, priority: 'x' } }).problems).toHaveLength(3);
});

test('uses a hundred profiles and reports that there are more', () => {
  const many = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`p${index}`, { kubelet: { maxPods: 9 } }]),
  );
  const { profiles, problems } = read(many);
  expect(profiles).toHaveLength(100);
  expect(problems).toMatchObject([{ message: `${label} has 120 profiles; only the first 100 by name are used` }]);
});

const layers = read({
  b: { kubelet: { maxPods: 2, kubeAPIQPS: 2 } },
  a: { kubelet: { maxPods: 1, kubeAPIBurst: 1 } },
  top: { priority: 1, selector: { pool: 'large' }, kubelet: { maxPods: 3, systemReserved: { memory: '6Gi' } } },
  other: { selector: { pool: 'small', zone: 'x' }, kubelet: { maxPods: 4 } },
}).profiles;

test('of matching profiles the one with the highest priority wins, then the later name', () => {
  expect(kubeletSettingsFor(layers)).toMatchObject({
    settings: { maxPods: 2, kubeAPIQPS: 2, kubeAPIBurst: 1 },
    applied: ['a', 'b'],
  });
  expect(kubeletSettingsFor(layers, { pool: 'large', more: 'y' })).toMatchObject({
    settings: { maxPods: 3, kubeAPIQPS: 2 },
    applied: ['a', 'b', 'top'],
  });
  expect(kubeletSettingsFor(layers, { pool: 'small' }).applied).toEqual(['a', 'b']);
  expect(kubeletSettingsFor(layers, { pool: 'small', zone: 'x' }).applied).toEqual(['a', 'b', 'other']);
});

test('maps are merged with the defaults by key', () => {
  expect(configOf(kubeletSettingsFor(layers, { pool: 'large' }).settings)).toMatchObject({
    systemReserved: { cpu: '500m', 'ephemeral-storage': '1Gi', memory: '6Gi' },
  });
});

test('profiles that conflict on a host: the later is left out there, and reported', () => {
  const conflicting = read({
    a: { kubelet: { imageGCLowThresholdPercent: 20, imageGCHighThresholdPercent: 40 } },
    b: { selector: { pool: 'large' }, kubelet: { imageGCLowThresholdPercent: 60 } },
  });
  expect(kubeletProblems(conflicting, [{}, undefined, { pool: 'small' }])).toEqual([]);
  const { settings, applied, problems } = kubeletSettingsFor(conflicting.profiles, { pool: 'large' });
  expect([settings, applied]).toEqual([{ imageGCHighThresholdPercent: 40, imageGCLowThresholdPercent: 20 }, ['a']]);
  expect(problems[0]?.message).toContain('"b": with a, which apply to the same hosts, kubelet.imageGCLow');
  expect(kubeletProblems(conflicting, [{ pool: 'large' }, { pool: 'large' }])).toHaveLength(1);
});

test('without settings the configuration is as before, and order does not matter', () => {
  expect(kubeletConfig('10.96.0.10', 'v1.33.0', {})).toBe(kubeletConfig('10.96.0.10', 'v1.33.0'));
  const one = read({ p: { kubelet: { maxPods: 9, kubeReserved: { memory: '1Gi', cpu: '1' } } } }).profiles;
  const other = read({ p: { kubelet: { kubeReserved: { cpu: '1', memory: '1Gi' }, maxPods: 9 } } }).profiles;
  const print = (profiles: typeof one) => kubeletConfig('10.96.0.10', undefined, kubeletSettingsFor(profiles).settings);
  expect(print(one)).toBe(print(other));
});

test('whatever the profiles say, only allowed fields change, and each profile is used or reported', () => {
  const value = fc.oneof(fc.jsonValue(), fc.integer({ min: 0, max: 500 }), fc.constantFrom('1Gi', '10%', '2m', true));
  const names = [...kubeletFields.map(({ name }) => name), ...Object.keys(refusedFields), 'constructor', '__proto__'];
  const kubelet = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 });
  const profile = fc.record({ kubelet, priority: fc.oneof(fc.integer(), fc.string()) }, { requiredKeys: ['kubelet'] });
  fc.assert(
    fc.property(fc.dictionary(fc.string({ maxLength: 5 }), profile, { maxKeys: 4 }), data => {
      const { profiles, problems } = read(data);
      expect(profiles.length + problems.length).toBeGreaterThanOrEqual(Object.keys(data).length);
      const changed = configOf(kubeletSettingsFor(profiles).settings);
      const free = new Set(kubeletFields.map(({ name }) => name));
      const rest = (config: object) => Object.entries(config).filter(([name]) => !free.has(name));
      expect(rest(changed)).toEqual(rest(configOf()));
    }),
    { numRuns: 1000 },
  );
});

test('the example is valid', () => {
  const { data } = parse(readFileSync(`${repositoryRoot}/examples/windows-kubelet-config.yaml`, 'utf8')) as {
    data: Record<string, string>;
  };
  const example = readKubeletProfiles(data, label);
  expect(kubeletProblems(example, [{}, { 'example.com/pool': 'large' }])).toEqual([]);
  expect(kubeletSettingsFor(example.profiles, { 'example.com/pool': 'large' }).applied).toEqual(['all', 'large']);
});

test('the tables in the documentation are those of the code', () => {
  const page = readFileSync(`${repositoryRoot}/docs/kubelet.md`, 'utf8');
  const allowed = kubeletFields.map(field => `| \`${field.name}\` | ${field.allowed} |`);
  expect(page).toContain(`|---|---|\n${allowed.join('\n')}\n\n`);
  const refused = Object.entries(refusedFields).map(([name, why]) => `| \`${name}\` | ${why} |`);
  expect(page).toContain(`|---|---|\n${refused.join('\n')}\n`);
});
