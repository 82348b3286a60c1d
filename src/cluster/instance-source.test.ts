import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WindowsInstance } from './windows-instance-resource.ts';
import type { WindowsInstanceSpec } from '#contract/windows-instance/resource.ts';
import { indexBySource, instanceNames, sourceOf, sourceText } from './instance-source.ts';

const instance = (source: WindowsInstanceSpec['source'] | undefined): WindowsInstance => ({
  metadata: { name: 'wi', namespace: 'wmco' },
  spec: { address: '10.0.0.1', username: 'Administrator', ...(source && { source }) },
});

/** What the API server takes for a name: it has no limit for the parts between the dots. */
const isObjectName = (text: string) => text.length <= 253 && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text);

const names: [kind: 'Machine' | 'ConfigMap', name: string, want: string][] = [
  ['Machine', 'e2e-wm-abcde', 'e2e-wm-abcde'],
  ['ConfigMap', '10.1.42.1', '10.1.42.1'],
  ['ConfigMap', 'Instance.Example.com', 'instance.example.com'],
  ['ConfigMap', 'instance.example.com.', 'instance.example.com'],
];
for (const [kind, name, want] of names) {
  test(`calls the instance of ${kind} ${name} ${want}, or that with eight characters more`, () => {
    const [plain, distinct] = instanceNames({ kind, name });
    expect(plain).toBe(want);
    expect(distinct).toMatch(new RegExp(`^${want.replaceAll('.', '\\.')}-[0-9a-f]{8}$`));
  });
}

test('calls the same source the same, in whatever way it is written', () => {
  const one = instanceNames({ kind: 'ConfigMap', name: 'WIN1.example.com.' });
  expect(instanceNames({ kind: 'ConfigMap', name: 'win1.EXAMPLE.com' })).toEqual(one);
});

test('reports a Machine from an entry of the same name', () => {
  const [, machine] = instanceNames({ kind: 'Machine', name: 'win1' });
  const [, entry] = instanceNames({ kind: 'ConfigMap', name: 'win1' });
  expect(machine).not.toBe(entry);
  expect(sourceText({ kind: 'Machine', name: 'win1' })).not.toBe(sourceText({ kind: 'ConfigMap', name: 'win1' }));
});

test('shortens a long name so that both forms are names of objects', () => {
  const label = 'a'.repeat(61);
  const long = [label, label, label, label, 'abc'].join('.');
  const [plain, distinct] = instanceNames({ kind: 'Machine', name: long });
  expect(plain).toHaveLength(251);
  expect(isObjectName(plain)).toBe(true);
  expect(distinct.length).toBeLessThanOrEqual(253);
  expect(isObjectName(distinct)).toBe(true);
});

test('never gives two sources the same second name', () => {
  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map(parts => parts.join('.'));
  const source = fc.record({ kind: fc.constantFrom('Machine' as const, 'ConfigMap' as const), name });
  fc.assert(
    fc.property(source, source, (one, other) => {
      const [first, second] = [instanceNames(one), instanceNames(other)];
      expect(isObjectName(first[1])).toBe(true);
      if (sourceText(one) !== sourceText(other)) expect(first[1]).not.toBe(second[1]);
    }),
    { numRuns: 1000 },
  );
});

const sources: [about: string, source: WindowsInstanceSpec['source'] | undefined, want: string[]][] = [
  ['finds the Machine of an instance', { kind: 'Machine', name: 'm1' }, ['Machine/m1']],
  ['finds the entry of an instance', { kind: 'ConfigMap', name: 'WIN1' }, ['ConfigMap/win1']],
  ['knows no source of one that was made directly', { kind: 'Direct' }, []],
  ['knows no source where none is said', undefined, []],
  ['takes a source without a name for one that nobody has', { kind: 'Machine' }, ['Machine/']],
];
for (const [about, source, want] of sources) {
  test(about, () => {
    expect(indexBySource(instance(source))).toEqual(want);
    expect(sourceOf(instance(source)) === undefined).toBe(want.length === 0);
  });
}
