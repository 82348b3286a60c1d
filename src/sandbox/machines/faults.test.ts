import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { serviceName } from '#contract/names.ts';
import { assignFaults, type Fault, type FaultName, faults, findFault } from './faults.ts';
import { defaultTimes } from './times.ts';
import { defaultTraits } from './traits.ts';

const entries = Object.entries(faults) as [FaultName, Fault][];
const hosts = ['win-1', 'win-2', 'win-3'];
const given = (requests: string[], machines: string[] = []) =>
  Object.fromEntries(assignFaults(requests, hosts, machines));

test.each(entries)('%s has a description of one line', (_, { description }) => {
  expect(description).toMatch(/^[a-zA-Z].{10,70}[^.\n]$/);
});

test.each(entries)('%s changes traits or times', (_, { traits = {}, times = {} }) => {
  const differs = [
    ...Object.entries(traits).map(([name, value]) => value !== defaultTraits[name as keyof typeof defaultTraits]),
    ...Object.entries(times).map(([name, value]) => value !== defaultTimes[name as keyof typeof defaultTimes]),
  ];
  expect(differs).not.toEqual([]);
  expect(differs).not.toContain(false);
});

test.each(entries)('%s changes only existing traits and times', (_, { traits = {}, times = {} }) => {
  for (const name of Object.keys(traits)) expect(Object.hasOwn(defaultTraits, name)).toBe(true);
  for (const name of Object.keys(times)) expect(Object.hasOwn(defaultTimes, name)).toBe(true);
});

test('no two faults have the same name or description', () => {
  const texts = entries.map(([, { description }]) => description);
  expect(new Set(texts).size).toBe(entries.length);
});

test('services that fail, hang or are foreign have names of WMCO services', () => {
  const named = entries.flatMap(([, { traits = {} }]) => [
    ...(traits.failingServices ?? []),
    ...(traits.stubbornServices ?? []),
    ...(traits.foreignServices ?? []),
  ]);
  for (const name of named) expect(Object.values(serviceName)).toContain(name);
});

const nothing = { 'win-1': [], 'win-2': [], 'win-3': [] };
const assignments: [string, string[], Record<string, string[]>][] = [
  ['no faults', [], nothing],
  ['a fault to the last host', ['full-disk'], { ...nothing, 'win-3': ['full-disk'] }],
  [
    'each further one to the host before',
    ['full-disk', 'no-admin'],
    { ...nothing, 'win-3': ['full-disk'], 'win-2': ['no-admin'] },
  ],
  ['a fault to the host that is named', ['french@win-1'], { ...nothing, 'win-1': ['french'] }],
  ['several to one host', ['french@win-1', 'slow-disk@win-1'], { ...nothing, 'win-1': ['french', 'slow-disk'] }],
  [
    'named ones first, so that others find a free host',
    ['full-disk', 'german@win-3'],
    { ...nothing, 'win-3': ['german'], 'win-2': ['full-disk'] },
  ],
];
for (const [name, requests, want] of assignments) test(`gives ${name}`, () => expect(given(requests)).toEqual(want));

test('a Machine gets a fault only by its name', () => {
  const machines = ['machine-1', 'machine-2'];
  expect(given(['no-sftp@machine-2', 'refused'], machines)).toEqual({
    ...nothing,
    'machine-1': [],
    'machine-2': ['no-sftp'],
    'win-3': ['refused'],
  });
});

const refusals: [string, string[], RegExp][] = [
  ['a fault that there is not', ['meteor'], /unknown fault "meteor"; known faults: unreachable, /],
  ['a fault with an empty name', [''], /unknown fault ""/],
  ['a name that every object has', ['constructor'], /unknown fault "constructor"/],
  ['a host that there is not', ['refused@win-9'], /unknown host "win-9"; known hosts: win-1, win-2, win-3/],
  ['more faults than hosts', ['refused', 'no-ssh', 'no-sftp', 'german'], /4 faults for 3 hosts/],
];
for (const [name, requests, message] of refusals) {
  test(`rejects ${name} with a remedy`, () => {
    expect(() => assignFaults(requests, hosts)).toThrow(
      expect.objectContaining({
        code: 'USAGE',
        message: expect.stringMatching(message),
        remedy: expect.stringContaining('--faults'),
      }),
    );
  });
}

test('without hosts a fault for a host is refused, too', () => {
  expect(() => assignFaults(['refused@win-1'], [])).toThrow(/known hosts: none/);
});

test('finds every fault by its name', () => {
  for (const [name, fault] of entries) expect(findFault(name)).toBe(fault);
});

test('any list of faults is assigned or rejected with an AppError', () => {
  const request = fc.oneof(
    fc.constantFrom(...Object.keys(faults)),
    fc.string(),
    fc.constantFrom('german@win-1', '@', 'a@b'),
  );
  fc.assert(
    fc.property(fc.array(request, { maxLength: 5 }), requests => {
      try {
        const total = [...assignFaults(requests, hosts).values()].flat().length;
        return total === requests.length;
      } catch (error) {
        return error instanceof AppError && error.code === 'USAGE';
      }
    }),
    { numRuns: 2000 },
  );
});
