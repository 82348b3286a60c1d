import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { type Inventory, parseInventory } from './inventory.ts';
import { file } from './paths.ts';

const full: Inventory = {
  agentVersion: '11.0.0-1',
  hostName: 'win-1',
  nodeName: 'win-1',
  fqdn: 'win-1.example.com',
  os: { product: 'Windows Server 2022 Datacenter', build: '10.0.20348.2700', installationType: 'Server Core' },
  bootId: 'b-1',
  pendingReboot: ['Windows Update'],
  containersFeature: 'enabled',
  adapters: [
    { name: 'Ethernet', mac: '00-15-5d-aa-bb-cc', addresses: ['10.0.0.5/24'], isUp: true, hasDefaultRoute: true },
  ],
  isAdministrator: true,
  portsInUse: [9182, 10250],
  services: [{ name: 'kubelet', state: 'running', command: 'kubelet.exe', isManaged: true }],
  files: { [file.kubelet]: 'ab'.repeat(32) },
  stagedVersion: '11.0.0-0',
  sets: { current: { version: 'v1', agent: 'ab', bundle: 'cd' } },
  copies: ['ef'.repeat(32)],
  bundles: { ['cd'.repeat(32)]: 12 },
  networks: [{ name: 'nat', subnets: ['10.0.0.0/24'], managementIp: '' }],
  time: '2026-03-01T12:00:00.000Z',
  freeBytes: 1e12,
  certificateExpires: '2026-03-01T13:00:00.000Z',
  identities: {
    agent: { keyHash: 'ab'.repeat(32), certificateEnds: '2026-03-01T13:00:00.000Z' },
    cloudNode: { keyHash: 'cd'.repeat(32) },
  },
  probe: { url: 'https://api:6443', clockAheadMs: -1500, problem: 'refused' },
  problems: ['networks: access denied'],
};
const parse = (over: object) => parseInventory(JSON.stringify({ ...full, ...over }), '10.0.0.5');

test('reads everything', () => expect(parse({})).toEqual(full));

test('ignores unknown members of a newer agent', () => expect(parse({ later: { a: 1 } })).toEqual(full));

const absent: [keyof Inventory, unknown][] = [
  ['pendingReboot', []],
  ['adapters', []],
  ['services', []],
  ['files', {}],
  ['isAdministrator', false],
  ['portsInUse', []],
  ['stagedVersion', ''],
  ['bundles', {}],
  ['sets', {}],
  ['copies', []],
  ['networks', []],
  ['freeBytes', 0],
  ['problems', []],
];
for (const [name, want] of absent) {
  test(`takes absent ${name} as empty`, () => expect(parse({ [name]: undefined })[name]).toEqual(want));
}

test('takes a version of a set that is none as unknown', () => {
  for (const version of ['$(reboot)', 'a b', '`id`', 'v'.repeat(129), '\n']) {
    expect(parse({ sets: { current: { version, agent: 'ab', bundle: 'cd' } } }).sets.current?.version).toBe('');
  }
});

test('has no expiry without a certificate', () => {
  expect(parse({ certificateExpires: undefined })).not.toHaveProperty('certificateExpires');
});

test('parses a missing and a minimal probe', () => {
  expect(parse({ probe: undefined })).not.toHaveProperty('probe');
  expect(parse({ probe: { url: 'https://a' } }).probe).toEqual({ url: 'https://a' });
});

test('parses adapters, services and networks with few members', () => {
  const seen = parse({ adapters: [{ name: 'a' }], services: [{ name: 's', state: 'x' }], networks: [{ name: 'n' }] });
  expect(seen.adapters).toEqual([{ name: 'a', mac: '', addresses: [], isUp: false, hasDefaultRoute: false }]);
  expect(seen.services).toEqual([{ name: 's', state: 'x', command: '', isManaged: false }]);
  expect(seen.networks).toEqual([{ name: 'n', subnets: [], managementIp: '' }]);
});

const hash = 'ab'.repeat(32);
const ends = '2026-03-02T12:00:00.000Z';
const identities: [string, unknown, object | undefined][] = [
  ['none', undefined, undefined],
  ['a list', [], undefined],
  [
    'an agent',
    { agent: { keyHash: hash, certificateEnds: ends } },
    { agent: { keyHash: hash, certificateEnds: ends } },
  ],
  ['a key without a certificate', { cloudNode: { keyHash: hash } }, { cloudNode: { keyHash: hash } }],
  ['a key that is a number', { agent: { keyHash: 1 }, cloudNode: { keyHash: hash } }, { cloudNode: { keyHash: hash } }],
  ['a hash in capitals', { agent: { keyHash: hash.toUpperCase() } }, undefined],
  ['an end that is no time', { agent: { keyHash: hash, certificateEnds: 'soon' } }, { agent: { keyHash: hash } }],
  ['other members', { agent: { keyHash: hash, key: 'secret' }, x: 1 }, { agent: { keyHash: hash } }],
];
for (const [name, given, want] of identities) {
  test(`parses identities: ${name}`, () => expect(parse({ identities: given }).identities).toEqual(want));
}

const refused: [string, object, RegExp][] = [
  ['rights that are a text', { isAdministrator: 'yes' }, /isAdministrator is "yes", not true or false/],
  ['ports that are no list', { portsInUse: 22 }, /portsInUse is not a list of integers/],
  ['a port that is a text', { portsInUse: ['22'] }, /portsInUse is not a list of integers/],
  ['a bundle without a size', { bundles: { a: 'big' } }, /bundles\.a is "big", not a number/],
  ['a probe of nothing', { probe: { problem: 'x' } }, /probe\.url is missing/],
  ['no version', { agentVersion: undefined }, /inventory of 10\.0\.0\.5: agentVersion is missing/],
  ['no host name', { hostName: null }, /hostName is missing/],
  ['a host name that is a number', { hostName: 5 }, /hostName is 5, not a string/],
  ['no full name', { fqdn: undefined }, /fqdn/],
  ['no boot', { bootId: undefined }, /bootId/],
  ['no operating system', { os: undefined }, /os\.product/],
  ['half an operating system', { os: { product: 'x' } }, /os\.build/],
  ['no state of the feature', { containersFeature: undefined }, /containersFeature/],
  ['reasons that are one text', { pendingReboot: 'yes' }, /pendingReboot is "yes", not a list/],
  ['an adapter without a name', { adapters: [{}] }, /adapters\[0\]\.name/],
  ['addresses that are numbers', { adapters: [{ name: 'a', addresses: [1] }] }, /addresses\[0\] is 1/],
  ['a service that is a text', { services: ['kubelet'] }, /services\[0\] is "kubelet"/],
  ['a service without a state', { services: [{ name: 'kubelet' }] }, /services\[0\]\.state/],
  ['a hash that is a number', { files: { x: 1 } }, /files\.x is 1/],
  ['free space in words', { freeBytes: 'much' }, /freeBytes is "much"/],
];
for (const [name, over, message] of refused) {
  test(`rejects ${name}`, () => {
    expect(() => parse(over)).toThrow(expect.objectContaining({ code: 'FIELD_INVALID' }));
    expect(() => parse(over)).toThrow(message);
  });
}

const noTimes: [string, object][] = [
  ['no time', { time: 'yesterday' }],
  ['a year alone', { time: '2026' }],
  ['a month too many', { time: '2026-13-01T00:00:00Z' }],
  ['no expiry', { certificateExpires: 'soon' }],
];
for (const [name, over] of noTimes) {
  test(`rejects ${name}`, () =>
    expect(() => parse(over)).toThrow(expect.objectContaining({ code: 'AGENT_ANSWER_INVALID' })));
}

const noJson: [string, string][] = [
  ['nothing', ''],
  ['a message of the shell', "'windows-instance-config-daemon.exe' is not recognized as password=hunter2"],
  ['half an answer', JSON.stringify(full).slice(0, 100)],
  ['a novel', `"${'x'.repeat(5_000_000)}"`],
];
for (const [name, text] of noJson) {
  test(`rejects ${name}, and does not repeat it`, () => {
    const error = expect.objectContaining({ code: 'AGENT_ANSWER_INVALID', remedy: expect.stringMatching(/./) });
    expect(() => parseInventory(text, 'win-1')).toThrow(error);
    expect(() => parseInventory(text, 'win-1')).toThrow(/^inventory of win-1 (?!.*hunter2)/);
  });
}

test('throws only AppErrors for any text', () => {
  const spoilt = fc.record({ name: fc.constantFrom(...Object.keys(full)), value: fc.jsonValue() });
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    spoilt.map(({ name, value }) => JSON.stringify({ ...full, [name]: value })),
  );
  fc.assert(
    fc.property(text, given => {
      try {
        parseInventory(given, 'win-1');
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 2000 },
  );
});
