import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { WindowsInstanceSpec, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type AcceptanceFacts, acceptanceProblem, hostsOf, rivalsAmong } from './acceptance-problem.ts';

const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIbM+SmqWhs/D5n4HgqjPvt4lz2qsmyaSbDs1SZBurg3';
const first: WindowsInstance = made('first', { address: '10.0.0.1' }, 1);

function made(
  name: string,
  spec: Partial<WindowsInstanceSpec> = {},
  minute = 2,
  status: WindowsInstanceStatus = {},
): WindowsInstance {
  const creationTimestamp = `2026-03-01T12:0${minute}:00Z`;
  return {
    metadata: { name, namespace: 'wmco', creationTimestamp },
    spec: { address: '10.0.0.2', username: 'core', ...spec },
    status,
  };
}

function decide(instance: WindowsInstance, facts: Partial<AcceptanceFacts> = {}): AppError | undefined {
  return acceptanceProblem({ instance, entryProblem: undefined, keyProblem: undefined, rivals: [], ...facts });
}

const specs: [about: string, spec: Partial<WindowsInstanceSpec>, code: string | undefined][] = [
  ['an address and a user', {}, undefined],
  ['a DNS name', { address: 'Win1.example.com' }, undefined],
  ['a port', { port: 2222 }, undefined],
  ['a host key', { hostKey }, undefined],
  ['a host key with a comment', { hostKey: ` ${hostKey} root@host\n` }, undefined],
  ['an empty host key', { hostKey: '' }, undefined],
  ['a user of a domain', { username: 'corp\\admin' }, undefined],
  ['a broken address', { address: '10.0.0.256' }, 'INSTANCE_ADDRESS_INVALID'],
  ['an IPv6 address', { address: 'fd00::1' }, 'INSTANCE_ADDRESS_INVALID'],
  ['a name that is none', { address: 'a..b' }, 'INSTANCE_ADDRESS_INVALID'],
  ['no address', { address: '' }, 'INSTANCE_ADDRESS_INVALID'],
  ['an empty user', { username: '' }, 'INSTANCE_USERNAME_INVALID'],
  ['a user with a colon', { username: 'admin:secret' }, 'INSTANCE_USERNAME_INVALID'],
  ['a computer name', { hostname: 'WIN-1' }, undefined],
  ['a computer name that is two commands', { hostname: 'x&net user&y' }, 'INSTANCE_HOSTNAME_INVALID'],
  ['a computer name with a blank', { hostname: 'a b' }, 'INSTANCE_HOSTNAME_INVALID'],
  ['a computer name with a dot', { hostname: 'win1.example' }, 'INSTANCE_HOSTNAME_INVALID'],
  ['a computer name that ends the line', { hostname: 'win1\n' }, 'INSTANCE_HOSTNAME_INVALID'],
  ['a computer name of 16 letters', { hostname: 'a'.repeat(16) }, 'INSTANCE_HOSTNAME_INVALID'],
  ['an empty computer name', { hostname: '' }, 'INSTANCE_HOSTNAME_INVALID'],
  ['a host key without its type', { hostKey: hostKey.split(' ')[1] as string }, 'HOST_KEY_UNREADABLE'],
  ['a host key of another type than it says', { hostKey: hostKey.replace('ed25519', 'rsa') }, 'HOST_KEY_UNREADABLE'],
  ['a host key with the name of the host before it', { hostKey: `win1 ${hostKey}` }, 'HOST_KEY_UNREADABLE'],
];
for (const [about, spec, code] of specs) {
  test(`${code === undefined ? 'accepts' : 'refuses'} ${about}`, () => {
    const error = decide(made('win1', spec));
    expect(error?.code).toBe(code);
    if (error === undefined) return;
    expect(error.message).toContain('WindowsInstance win1');
    expect(error.remedy).not.toBe('');
    expect(error.message).not.toContain('secret');
  });
}

test('refuses an instance without a user, stored before the CRD required one', () => {
  const { username: _, ...spec } = made('win1').spec;
  expect(decide({ ...made('win1'), spec: spec as WindowsInstanceSpec })?.code).toBe('INSTANCE_USERNAME_INVALID');
});

const problem = new AppError('INSTANCE_ENTRY_MALFORMED', 'bad entry', { remedy: 'fix it' });
const noKey = new AppError('PRIVATE_KEY_MISSING', 'no key', { remedy: 'store it' });

test('names the entry first, then the spec, then the Secret, then the rival', () => {
  const bad = made('win1', { address: '10.0.0.1', username: '' });
  const good = made('win1', { address: '10.0.0.1' });
  const rivals = [first];
  expect(decide(bad, { entryProblem: problem, keyProblem: noKey, rivals })).toBe(problem);
  expect(decide(bad, { keyProblem: noKey, rivals })?.code).toBe('INSTANCE_USERNAME_INVALID');
  expect(decide(good, { keyProblem: noKey, rivals })).toBe(noKey);
  expect(decide(good, { rivals })?.code).toBe('INSTANCE_DUPLICATE');
});

const joined = { host: { name: 'win-7', addresses: ['10.0.0.7'] }, hostKey: 'ssh-ed25519 AAAA' };
const rivals: [about: string, instance: WindowsInstance, others: WindowsInstance[], ipv4s: string[], rival?: string][] =
  [
    ['another host', made('b'), [first], []],
    ['the same address', made('b', { address: '10.0.0.1' }), [first], [], 'first'],
    ['an older one than all others', made('b', { address: '10.0.0.1' }, 0), [first], []],
    ['the same age, by name', made('zz', { address: '10.0.0.1' }, 1), [first], [], 'first'],
    ['the same age, with the smaller name', made('aa', { address: '10.0.0.1' }, 1), [first], []],
    ['a name that resolves to the address', made('b', { address: 'win1' }), [first], ['10.0.0.1'], 'first'],
    [
      'a name of which one address is taken',
      made('b', { address: 'win1' }),
      [first],
      ['10.0.0.9', '10.0.0.1'],
      'first',
    ],
    [
      'a name that resolved to the address earlier',
      made('b', { address: 'win1' }, 2, { ipv4: '10.0.0.1' }),
      [first],
      [],
      'first',
    ],
    [
      'the address of a name',
      made('b', { address: '10.0.0.7' }),
      [made('first', { address: 'win7' }, 1, { ipv4: '10.0.0.7' })],
      [],
      'first',
    ],
    [
      'a name in other letters',
      made('b', { address: 'WIN1.example.com' }),
      [made('first', { address: 'win1.example.COM' }, 1)],
      [],
      'first',
    ],
    ['another port of the same address', made('b', { address: '10.0.0.1', port: 2222 }), [first], []],
    ['the default port, written out', made('b', { address: '10.0.0.1', port: 22 }), [first], [], 'first'],
    [
      'one that is being deleted',
      made('b', { address: '10.0.0.1' }),
      [{ ...first, metadata: { ...first.metadata, deletionTimestamp: 'now' } }],
      [],
    ],
    [
      'several: the oldest has it',
      made('c', { address: '10.0.0.1' }, 3),
      [made('b', { address: '10.0.0.1' }), first],
      [],
      'first',
    ],
    [
      'an older one that has not joined, to a host that has',
      made('b', { address: '10.0.0.7' }, 2, joined),
      [made('first', { address: 'win7' }, 1, { ipv4: '10.0.0.7' })],
      [],
    ],
    [
      'a younger one that has joined, to an older one that has not',
      made('b', { address: 'win7' }, 1, { ipv4: '10.0.0.7' }),
      [made('first', { address: '10.0.0.7' }, 2, joined)],
      [],
      'first',
    ],
    [
      'an old address of one that is listed by address',
      made('b', { address: '10.0.0.5' }),
      [made('first', { address: '10.0.0.1' }, 1, { ipv4: '10.0.0.5' })],
      [],
    ],
  ];
for (const [about, instance, all, ipv4s, rival] of rivals) {
  test(`${rival === undefined ? 'is no duplicate' : 'is a duplicate'}: ${about}`, () => {
    const error = decide(instance, { rivals: rivalsAmong(all, instance, ipv4s) });
    expect(error?.code).toBe(rival === undefined ? undefined : 'INSTANCE_DUPLICATE');
    if (rival === undefined) return;
    expect(error?.message).toContain(instance.spec.address);
    expect(error?.message).toContain(`WindowsInstance ${rival}`);
    expect(error?.remedy).toContain(`${rival} is used`);
  });
}

test('of any number of instances of one host exactly one is accepted', () => {
  const name = fc.stringMatching(/^[a-z]{1,4}$/);
  const minutes = fc.uniqueArray(fc.tuple(name, fc.nat(9)), { minLength: 1, maxLength: 8, selector: ([one]) => one });
  fc.assert(
    fc.property(minutes, list => {
      const all = list.map(([one, minute]) => made(one, { address: '10.0.0.1' }, minute));
      const accepted = all.filter(instance => decide(instance, { rivals: all }) === undefined);
      expect(accepted).toHaveLength(1);
    }),
    { numRuns: 500 },
  );
});

test('knows a host by all its addresses together with the port', () => {
  expect(hostsOf(made('a', { address: 'WIN1', port: 2222 }, 1, { ipv4: '10.0.0.3' }), ['10.0.0.4'])).toEqual([
    'win1:2222',
    '10.0.0.3:2222',
    '10.0.0.4:2222',
  ]);
  expect(hostsOf(made('a', { address: '10.0.0.1' }))).toEqual(['10.0.0.1:22']);
});
