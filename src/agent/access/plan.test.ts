import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AccessEntry, type Descriptor, right, sid } from './descriptor.ts';
import { type Access, descriptorOf, type FileEntry, isTrusted, judge, whyWritable } from './plan.ts';

const user = 'S-1-5-21-1-2-3-1001';
const kinds: Access[] = ['secret', 'programs', 'shared'];
const entry = (access: Descriptor | 'unreadable', is: 'file' | 'directory' = 'directory', names = 1): FileEntry => ({
  is,
  names,
  access,
});
const allow = (who: string, mask: number, inheritOnly = false): AccessEntry => ({
  allows: true,
  sid: who,
  mask,
  inheritOnly,
});
const and = (access: Access, ...more: AccessEntry[]): Descriptor => {
  const { owner, entries = [] } = descriptorOf(access);
  return { owner, entries: [...entries, ...more] };
};
const without = (access: Access, who: string): Descriptor => {
  const { owner, entries = [] } = descriptorOf(access);
  return { owner, entries: entries.filter(one => one.sid !== who) };
};
const owned = (owner: string): Descriptor => ({ ...descriptorOf('programs'), owner });
const windowsDefault: Descriptor = {
  owner: sid.administrators,
  entries: [
    allow(sid.system, right.all),
    allow(sid.administrators, right.all),
    allow(sid.users, right.read),
    allow(sid.users, 0x4),
    allow(sid.users, 0x2),
    allow(sid.creatorOwner, right.genericAll, true),
  ],
};

const rows: (readonly [string, FileEntry, Access, ReturnType<typeof judge>['do']])[] = [
  ...kinds.map(kind => [`what is ${kind}`, entry(descriptorOf(kind)), kind, 'keep'] as const),
  ['a secret among programs', entry(descriptorOf('secret'), 'file'), 'programs', 'keep'],
  ['what cannot be read', entry('unreadable'), 'secret', 'keep'],
  ['what belongs to SYSTEM', entry(owned(sid.system)), 'programs', 'keep'],
  ['what belongs to TrustedInstaller', entry(owned(sid.trustedInstaller)), 'programs', 'keep'],
  ['what belongs to the built-in Administrator', entry(owned('S-1-5-21-1-2-3-500')), 'programs', 'keep'],
  ['a junction', { is: 'link' }, 'programs', 'remove link'],
  ['a folder of a user', entry(owned(user)), 'programs', 'move aside'],
  ['a file of a user with the right rights', entry(owned(user), 'file'), 'programs', 'move aside'],
  [
    'a file of a user whose number ends with that of an administrator',
    entry(owned(`${user}-500`)),
    'programs',
    'move aside',
  ],
  ['a file of another service', entry(owned('S-1-5-80-1-2-3-4-5')), 'programs', 'move aside'],
  ['the defaults of Windows', entry(windowsDefault), 'programs', 'set rights'],
  [
    'the defaults of Windows above ours, in which a user could make a junction',
    entry(windowsDefault),
    'shared',
    'set rights',
  ],
  ['a key that Users may read', entry(descriptorOf('programs'), 'file'), 'secret', 'set rights'],
  ['a program that a user may write', entry(and('programs', allow(user, 0x2)), 'file'), 'programs', 'set rights'],
  ['a program whose rights a user may change', entry(and('programs', allow(user, 0x4_0000))), 'programs', 'set rights'],
  [
    'what a user may write in all that is made below',
    entry(and('programs', allow(user, 0x2, true))),
    'programs',
    'set rights',
  ],
  ['what a user may write below a shared folder', entry(and('shared', allow(user, 0x2, true))), 'shared', 'keep'],
  ['generic rights to read and run', entry(and('programs', allow(user, 0xa000_0000))), 'programs', 'keep'],
  ['generic rights to write', entry(and('programs', allow(user, 0x4000_0000))), 'programs', 'set rights'],
  ['what denies users', entry(and('secret', { ...allow(user, right.all), allows: false })), 'secret', 'keep'],
  ['what has no access list', entry({ owner: sid.system, entries: undefined }), 'programs', 'set rights'],
  ['what SYSTEM cannot write', entry(without('programs', sid.system)), 'programs', 'set rights'],
  [
    'what is denied to Administrators',
    entry(and('programs', { ...allow(sid.administrators, 1), allows: false })),
    'programs',
    'set rights',
  ],
  ['wrong rights of a file with two names', entry(windowsDefault, 'file', 2), 'programs', 'move aside'],
  ['right rights of a file with two names', entry(descriptorOf('programs'), 'file', 2), 'programs', 'keep'],
];
for (const [name, found, wanted, act] of rows) {
  test(`${name}: ${act} where ${wanted} is wanted`, () => expect(judge(found, wanted).do).toBe(act));
}

const anyone = fc.constantFrom(user, sid.users, sid.creatorOwner, sid.system, sid.administrators, 'S-1-1-0', '');
const anyEntry = fc.record({
  allows: fc.boolean(),
  sid: anyone,
  mask: fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.constantFrom(0x2, 0x4, 0x1_0000, 0x4_0000, right.all, right.read)),
  inheritOnly: fc.boolean(),
});

test('keeps no entry that users own, can write or, if secret, can read', () => {
  const descriptor = fc.record({ owner: anyone, entries: fc.array(anyEntry, { maxLength: 5 }) });
  fc.assert(
    fc.property(descriptor, fc.constantFrom(...kinds), (access, wanted) => {
      const base = descriptorOf(wanted).entries ?? [];
      const found = { owner: access.owner, entries: [...base, ...access.entries] };
      if (judge(entry(found), wanted).do !== 'keep') return;
      expect(isTrusted(found.owner)).toBe(true);
      for (const { allows, sid: who, mask, inheritOnly } of found.entries) {
        if (!allows || isTrusted(who) || (inheritOnly && wanted === 'shared')) continue;
        // Write, append, attributes, delete, rights and owner.
        expect(mask & 0x500d_0156).toBe(0);
        if (wanted === 'secret') expect(mask).toBe(0);
      }
    }),
    { numRuns: 1000 },
  );
});

const above: [string, FileEntry, string | undefined][] = [
  ['Windows', entry(owned(sid.trustedInstaller)), undefined],
  ['Windows on Wine', entry('unreadable'), undefined],
  [
    'Windows with rights for what is made below',
    entry(and('programs', allow(sid.creatorOwner, right.genericAll, true))),
    undefined,
  ],
  ['a link', { is: 'link' }, 'is a link'],
  ['a folder of a user', entry(owned(user)), `belongs to ${user}`],
  [
    'a folder that Users may write',
    entry(and('programs', allow(sid.users, 0x2))),
    `gives the rights 0x2 to ${sid.users}`,
  ],
];
for (const [name, found, want] of above) {
  test(`reports whether users may write to ${name}`, () => expect(whyWritable(found)).toBe(want));
}
