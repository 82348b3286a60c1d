import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { CertificatePlan } from '../certificates/plan.ts';
import { planEnvironment } from '../environment/plan.ts';
import { decideStart, describeSettings, isStillDesired, needsVersion } from './decide.ts';

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
    'starts while the Node waits for a reboot',
    node({ [desiredVersion]: 'v2', [rebootRequired]: '' }),
    { go: true, version: 'v2' },
  ],
];
for (const [name, seen, want] of starts) test(name, () => expect(decideStart(seen, '')).toEqual(want));

test('applies the version of the set of files in place, whatever the Node says', () => {
  expect(decideStart(node({ [desiredVersion]: 'v2' }), 'v1')).toEqual({ go: true, version: 'v1' });
  expect(decideStart(node({}), 'v1')).toMatchObject({ go: false });
  expect(isStillDesired(node({ [desiredVersion]: 'v2' }), { version: 'v1', setVersion: 'v1' })).toBe(true);
});

const desires: [name: string, node: NodeView | undefined, want: boolean][] = [
  ['reports a version that is desired', node({ [desiredVersion]: 'v2' }), true],
  ['reports it while the Node waits for a reboot', node({ [desiredVersion]: 'v2', [rebootRequired]: '' }), true],
  ['does not report a version that is no longer desired', node({ [desiredVersion]: 'v3' }), false],
  ['does not report a version when none is desired any more', node({}), false],
  ['does not report a version for a Node that has gone', undefined, false],
];
for (const [name, seen, want] of desires)
  test(name, () => expect(isStillDesired(seen, { version: 'v2', setVersion: '' })).toBe(want));

const versions: [name: string, reported: string, confirmedBoot: string, want: boolean][] = [
  ['reports a version that is not reported yet', '', '', true],
  ['reports a version in place of another', 'v1', 'boot-2', true],
  ['does not report a version twice', 'v2', 'boot-2', false],
  ['confirms the version again in every boot', 'v2', 'boot-1', true],
];
for (const [name, version, confirmedBoot, want] of versions)
  test(name, () => expect(needsVersion({ version, confirmedBoot }, { version: 'v2', bootId: 'boot-2' })).toBe(want));

const watched = ['HTTP_PROXY', 'NO_PROXY'];
const environment = (registry: Record<string, string>, wanted: Record<string, string>) =>
  planEnvironment({ registry, wanted, watched, owned: undefined });
const certificates = (add: number, remove: number): CertificatePlan => ({
  add: Array.from({ length: add }, () => ({ der: Uint8Array.of(), sha256: '' })),
  remove: Array.from({ length: remove }, () => ''),
  imported: [],
  changed: add + remove > 0,
});
const quiet = environment({ HTTP_PROXY: 'a' }, { HTTP_PROXY: 'a' });

const changes: [name: string, text: string[], want: string[]][] = [
  ['nothing', describeSettings(quiet, certificates(0, 0)), []],
  ['a bundle that cannot be read', describeSettings(quiet, undefined), []],
  [
    'a new variable',
    describeSettings(environment({}, { HTTP_PROXY: 'a' }), certificates(0, 0)),
    ['machine variables HTTP_PROXY'],
  ],
  [
    'removed variables, and certificates',
    describeSettings(environment({ HTTP_PROXY: 'a', NO_PROXY: 'b' }, {}), certificates(2, 1)),
    ['machine variables HTTP_PROXY, NO_PROXY', 'trusted certificates (2 added, 1 removed)'],
  ],
];
for (const [name, text, want] of changes) test(`describes ${name}`, () => expect(text).toEqual(want));

const value = fc.constantFrom('secret1', 'secret2', '');
const settings = fc.record({ HTTP_PROXY: value, NO_PROXY: value }, { requiredKeys: [] });

test('never describes a value of a variable', () => {
  fc.assert(
    fc.property(settings, settings, (registry, wanted) => {
      expect(describeSettings(environment(registry, wanted), undefined).join()).not.toContain('secret');
    }),
    { numRuns: 500 },
  );
});
