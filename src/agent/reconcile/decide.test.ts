import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import { planEnvironment } from '../environment/plan.ts';
import { decideReboot, decideStart, needsVersion, type RebootInput } from './decide.ts';

const { desiredVersion, version, rebootRequired } = nodeAnnotation;
const node = (annotations: Record<string, string>): NodeView => ({
  name: 'win-1',
  uid: '',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});

const starts: [name: string, node: NodeView | undefined, want: unknown][] = [
  ['starts with the desired version', node({ [desiredVersion]: 'v2' }), { go: true, version: 'v2' }],
  [
    'starts again when the version is already annotated',
    node({ [desiredVersion]: 'v2', [version]: 'v2' }),
    { go: true, version: 'v2' },
  ],
  ['skips the pass without a Node', undefined, { go: false, why: 'the Node does not exist' }],
  ['skips the pass without a desired version', node({}), { go: false, why: 'Node win-1 has no desired version' }],
  [
    'skips the pass with an empty desired version',
    node({ [desiredVersion]: '' }),
    { go: false, why: 'Node win-1 has no desired version' },
  ],
  [
    'skips the pass while a reboot is pending',
    node({ [desiredVersion]: 'v2', [rebootRequired]: '' }),
    { go: false, why: 'Node win-1 is waiting for a reboot' },
  ],
];
for (const [name, seen, want] of starts) test(name, () => expect(decideStart(seen, '')).toEqual(want));

test('applies the version of the set of files in place, whatever the Node says', () => {
  expect(decideStart(node({ [desiredVersion]: 'v2' }), 'v1')).toEqual({ go: true, version: 'v1' });
  expect(decideStart(node({}), 'v1')).toMatchObject({ go: false });
  const now = { version: 'v1', setVersion: 'v1', bootId: 'boot-2' };
  expect(needsVersion(node({ [desiredVersion]: 'v2' }), { version: '', confirmedBoot: '' }, now)).toBe(true);
});

const versions: [name: string, node: NodeView | undefined, reported: string, want: boolean][] = [
  ['reports a version that is not reported yet', node({ [desiredVersion]: 'v2' }), '', true],
  ['reports a version in place of another', node({ [desiredVersion]: 'v2' }), 'v1', true],
  ['does not report a version twice', node({ [desiredVersion]: 'v2' }), 'v2', false],
  ['goes by its report, not by the Node', node({ [desiredVersion]: 'v2', [version]: 'v2' }), '', true],
  ['does not report a version that is no longer desired', node({ [desiredVersion]: 'v3' }), '', false],
  ['does not report a version when none is desired any more', node({}), '', false],
  [
    'does not report a version when a reboot was requested meanwhile',
    node({ [desiredVersion]: 'v2', [rebootRequired]: '' }),
    '',
    false,
  ],
  ['does not report a version for a Node that has gone', undefined, '', false],
];
for (const [name, seen, reported, want] of versions) {
  const report = { version: reported, confirmedBoot: 'boot-2' };
  const now = { version: 'v2', setVersion: '', bootId: 'boot-2' };
  test(name, () => expect(needsVersion(seen, report, now)).toBe(want));
}
test('confirms the version again in every boot', () => {
  const seen = node({ [desiredVersion]: 'v2' });
  const report = { version: 'v2', confirmedBoot: 'boot-1' };
  expect(needsVersion(seen, report, { version: 'v2', setVersion: '', bootId: 'boot-2' })).toBe(true);
});

const watched = ['HTTP_PROXY', 'NO_PROXY'];
const environment = (registry: Record<string, string>, wanted: Record<string, string>) =>
  planEnvironment({ registry, wanted, watched, owned: undefined });
const certificates = (add: number, remove: number): CertificatePlan => ({
  add: Array.from({ length: add }, () => ({ der: Uint8Array.of(), sha256: '' })),
  remove: Array.from({ length: remove }, () => ''),
  imported: [],
  changed: add + remove > 0,
});
const quiet: RebootInput = {
  environment: environment({ HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' }),
  certificates: certificates(0, 0),
  processEnvironment: { HTTP_PROXY: 'a' },
  requested: undefined,
  bootId: 'boot-2',
};

const reboots: [name: string, change: Partial<RebootInput>, because: string[]][] = [
  ['needs none when all is as it should be', {}, []],
  [
    'needs one when a variable is set',
    { environment: environment({}, { HTTP_PROXY: 'a' }) },
    ['machine variables change: HTTP_PROXY'],
  ],
  [
    'needs one when variables are removed',
    { environment: environment({ HTTP_PROXY: 'a', NO_PROXY: 'b' }, {}) },
    ['machine variables change: HTTP_PROXY, NO_PROXY'],
  ],
  [
    'needs one when a certificate is added',
    { certificates: certificates(1, 0) },
    ['trusted certificates change: 1 added, 0 removed'],
  ],
  [
    'needs one when certificates are removed',
    { certificates: certificates(0, 2) },
    ['trusted certificates change: 0 added, 2 removed'],
  ],
  ['needs none for a bundle that cannot be read', { certificates: undefined }, []],
  [
    'needs one while processes see an old value',
    { processEnvironment: { HTTP_PROXY: 'old' } },
    ['processes do not see HTTP_PROXY yet'],
  ],
  ['needs one while processes do not see a value', { processEnvironment: {} }, ['processes do not see HTTP_PROXY yet']],
  [
    'needs one while processes see a value that has been removed',
    { environment: environment({}, {}), processEnvironment: { NO_PROXY: 'b' } },
    ['processes do not see NO_PROXY yet'],
  ],
  ['does not mind blanks around a value', { processEnvironment: { HTTP_PROXY: ' a ' } }, []],
  ['finds a variable of a process in another spelling', { processEnvironment: { http_proxy: 'a' } }, []],
  ['does not mind variables nobody watches', { processEnvironment: { HTTP_PROXY: 'a', Path: 'x' } }, []],
  [
    'needs one that was requested in this boot',
    { requested: { bootId: 'boot-2', variables: [] } },
    ['the requested reboot has not happened yet'],
  ],
  ['needs none that has happened', { requested: { bootId: 'boot-1', variables: ['HTTP_PROXY'] } }, []],
  [
    'tells all reasons',
    {
      environment: environment({}, { HTTP_PROXY: 'a' }),
      certificates: certificates(2, 1),
      requested: { bootId: 'boot-2', variables: [] },
    },
    [
      'machine variables change: HTTP_PROXY',
      'trusted certificates change: 2 added, 1 removed',
      'the requested reboot has not happened yet',
    ],
  ],
];
for (const [name, change, because] of reboots) {
  test(name, () => {
    const decision = decideReboot({ ...quiet, ...change });
    expect(decision).toMatchObject({ needed: because.length > 0, because, problem: undefined });
  });
}

test('remembers for which variables the reboot is', () => {
  const change = environment({ NO_PROXY: 'b' }, { HTTP_PROXY: 'a' });
  const decision = decideReboot({ ...quiet, environment: change, processEnvironment: { NO_PROXY: 'b' } });
  expect(decision.variables.toSorted()).toEqual(['HTTP_PROXY', 'NO_PROXY']);
});

const rebooted = { bootId: 'boot-1', variables: ['http_proxy'] };

test('does not reboot again for a variable that stays without effect', () => {
  const decision = decideReboot({ ...quiet, processEnvironment: { HTTP_PROXY: 'of SYSTEM' }, requested: rebooted });
  expect(decision).toMatchObject({ needed: false, because: [] });
  expect(decision.problem).toMatchObject({
    code: 'ENVIRONMENT_NOT_EFFECTIVE',
    message: expect.stringContaining('HTTP_PROXY'),
    remedy: expect.stringContaining('SYSTEM'),
  });
});

test('reboots for a variable that the last reboot was not for, though another is stubborn', () => {
  const both = environment({ HTTP_PROXY: 'a', NO_PROXY: 'b' }, { HTTP_PROXY: 'a', NO_PROXY: 'b' });
  const decision = decideReboot({ ...quiet, environment: both, processEnvironment: {}, requested: rebooted });
  expect(decision).toMatchObject({ needed: true, because: ['processes do not see NO_PROXY yet'] });
  expect(decision.problem?.message).not.toContain('NO_PROXY');
});

test('reboots again when the wanted value has changed', () => {
  const change = environment({ HTTP_PROXY: 'a' }, { HTTP_PROXY: 'b' });
  const decision = decideReboot({
    ...quiet,
    environment: change,
    processEnvironment: { HTTP_PROXY: 'a' },
    requested: rebooted,
  });
  expect(decision).toMatchObject({ needed: true, problem: undefined });
});

const value = fc.constantFrom('secret1', 'secret2', '');
const settings = fc.record({ HTTP_PROXY: value, NO_PROXY: value }, { requiredKeys: [] });

test('never needs a reboot right after one that made processes see the registry', () => {
  fc.assert(
    fc.property(settings, settings, (registry, wanted) => {
      const first = environment(registry, wanted);
      const after = Object.fromEntries(Object.entries(first.expected).filter(([, text]) => text !== ''));
      const second = planEnvironment({ registry: after, wanted, watched, owned: first.owned });
      const requested = { bootId: 'boot-1', variables: watched };
      const decision = decideReboot({ ...quiet, environment: second, processEnvironment: after, requested });
      expect(decision).toMatchObject({ needed: false, problem: undefined });
    }),
    { numRuns: 500 },
  );
});

test('never reports a value of a variable', () => {
  fc.assert(
    fc.property(settings, settings, settings, fc.constantFrom('boot-1', 'boot-2'), (registry, wanted, seen, bootId) => {
      const requested = { bootId, variables: watched };
      const decision = decideReboot({
        ...quiet,
        environment: environment(registry, wanted),
        processEnvironment: seen,
        requested,
      });
      expect(`${decision.because.join()} ${decision.problem?.message}`).not.toContain('secret');
    }),
    { numRuns: 500 },
  );
});
