import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ServicesManifest } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { servicesManifest } from '#node/desired/services.ts';
import { benchSettings, defaultFacts } from '../../../test/kit/fixed-facts.ts';
import { decide, type ServicesConfigFacts, type StoredServices } from './decide.ts';

const version = '11.0.0-abcdef0';
const name = (of = version) => `windows-services-${of}`;
const wanted = servicesManifest(defaultFacts, benchSettings);
const stored = (more: Partial<StoredServices> = {}): StoredServices => ({
  name: name(),
  data: printManifest(wanted),
  salt: '',
  immutable: true,
  isDeleting: false,
  ...more,
});
const see = (more: Partial<ServicesConfigFacts> = {}): ServicesConfigFacts => ({
  version,
  wanted,
  salt: '',
  stored: [stored()],
  inUse: [],
  recorded: [],
  ...more,
});

const own: [name: string, seen: Partial<ServicesConfigFacts>, want: string][] = [
  ['keeps what is right', {}, 'keep'],
  ['creates what is missing', { stored: [] }, 'create'],
  ['replaces one with another salt', { salt: 'other' }, 'replace'],
  ['keeps one with its salt', { salt: 'one', stored: [stored({ salt: 'one' })] }, 'keep'],
  ['creates it beside those of other versions', { stored: [stored({ name: name('old') })] }, 'create'],
  ['waits for the facts', { wanted: undefined }, 'wait'],
  ['waits for the facts even when it is missing', { wanted: undefined, stored: [] }, 'wait'],
  ['waits until one that was deleted is gone', { stored: [stored({ isDeleting: true })] }, 'wait'],
  ['replaces one without data', { stored: [stored({ data: {} })] }, 'replace'],
  ['replaces one that cannot be parsed', { stored: [stored({ data: { services: '[', files: '[]' } })] }, 'replace'],
  ['replaces one that could be changed', { stored: [stored({ immutable: false })] }, 'replace'],
];
for (const [text, seen, want] of own) test(text, () => expect(decide(see(seen)).own.do).toBe(want));

const edits: [name: string, edit: (manifest: ServicesManifest) => ServicesManifest, same: boolean][] = [
  // Its hash is another, and agents go by the hash.
  ['the same in another order', manifest => ({ ...manifest, services: manifest.services.toReversed() }), false],
  ['a service less', manifest => ({ ...manifest, services: manifest.services.slice(1) }), false],
  [
    'a changed command',
    manifest => ({
      ...manifest,
      services: manifest.services.map(each => ({ ...each, command: `${each.command} -x` })),
    }),
    false,
  ],
  ['a file more', manifest => ({ ...manifest, files: [{ path: 'C:\\x', checksum: '' }] }), false],
  ['a variable more', manifest => ({ ...manifest, environment: { NO_PROXY: 'x' } }), false],
  ['watched variables in another order', manifest => ({ ...manifest, watchedEnvironment: ['NO_PROXY'] }), false],
];
for (const [text, edit, same] of edits) {
  test(`${same ? 'keeps' : 'replaces'} one with ${text}`, () => {
    const { own: verdict } = decide(see({ stored: [stored({ data: printManifest(edit(wanted)) })] }));
    expect(verdict.do).toBe(same ? 'keep' : 'replace');
  });
}

test('reports why it replaces and why it waits, with the name of the ConfigMap', () => {
  const replaced = decide(see({ stored: [stored({ data: {} })] })).own;
  expect(replaced).toMatchObject({ do: 'replace', why: expect.stringContaining(name()) });
  const leaving = decide(see({ stored: [stored({ isDeleting: true })] })).own;
  expect(leaving).toMatchObject({ do: 'wait', why: expect.stringContaining(name()) });
});

test('reports nothing of proxy passwords when variables differ', () => {
  const secret = { ...wanted, environment: { HTTPS_PROXY: 'http://u:planted@proxy' } };
  const { own: verdict } = decide(see({ stored: [stored({ data: printManifest(secret) })] }));
  expect(JSON.stringify(verdict)).not.toContain('planted');
});

const old = ['v1', 'v2', 'v3'].map(of => stored({ name: name(of) }));
const outdated: [name: string, inUse: string[], want: string[]][] = [
  ['all that no host needs', [], ['v1', 'v2', 'v3']],
  ['none that a host runs', ['v1', 'v3'], ['v2']],
  ['those beside a version that has none', ['v4'], ['v1', 'v2', 'v3']],
];
for (const [text, inUse, want] of outdated) {
  test(`UPG-04: removes ${text}`, () => {
    expect(decide(see({ stored: [stored(), ...old], inUse })).outdated).toEqual(want.map(of => name(of)));
  });
}

const lost: [name: string, recorded: string[], want: string[]][] = [
  ['none that exists', ['v1', 'v2'], []],
  ['one that a host needs', ['v1', 'v4'], ['v4']],
  ['never its own', [version], []],
];
for (const [text, recorded, want] of lost) {
  test(`misses ${text}`, () => {
    expect(decide(see({ stored: old, recorded })).lost).toEqual(want.map(of => name(of)));
  });
}

test('removes neither its own, nor other ConfigMaps, nor those on their way out', () => {
  const others = ['windows-services-', 'windows-instances', 'trusted-ca'].map(each => stored({ name: each }));
  const leaving = stored({ name: name('v1'), isDeleting: true });
  expect(decide(see({ stored: [stored(), ...others, leaving] })).outdated).toEqual([]);
});

test('removes outdated ones while it waits for facts', () => {
  expect(decide(see({ wanted: undefined, stored: old })).outdated).toHaveLength(3);
});

test('UPG-04: never removes what a host needs or what is its own, whatever there is', () => {
  const some = fc.constantFrom('v1', 'v2', 'v3', version);
  fc.assert(
    fc.property(fc.array(some), fc.array(some), (versions, inUse) => {
      const gone = decide(see({ stored: versions.map(of => stored({ name: name(of) })), inUse })).outdated;
      for (const of of [...inUse, version]) expect(gone).not.toContain(name(of));
    }),
    { numRuns: 500 },
  );
});
