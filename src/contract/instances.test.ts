import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEntries } from './instances.ts';

/** `user` for a good entry, the code of its error for a bad one. */
const outcome = (data: Record<string, string>) =>
  parseEntries(data).map(entry => [entry.address, entry.ok ? entry.username : entry.error.code]);

const values: [string, string, string][] = [
  ['a user name', 'username=Administrator', 'Administrator'],
  ['a line break at the end, as YAML writes it', 'username=core\n', 'core'],
  ['a line break of Windows', 'username=core\r\n', 'core'],
  ['blanks around the value', '  username=core  ', 'core'],
  ['blanks around the name', 'username = core', 'core'],
  ['a blank inside the name', 'username=John Doe', 'John Doe'],
  ['a user of a domain', 'username=CORP\\user', 'CORP\\user'],
  ['a local user, written so', 'username=.\\user', '.\\user'],
  ['a user of a domain, written the new way', 'username=user@corp.example.com', 'user@corp.example.com'],
  ['an equals sign in the name', 'username=a=b', 'a=b'],
  ['letters beyond ASCII', 'username=Jürgen', 'Jürgen'],
  ['signs that Windows allows', "username=o'neil-_.!#$%&(){}~^`", "o'neil-_.!#$%&(){}~^`"],
  ['no user name', 'username=', 'INSTANCE_USERNAME_INVALID'],
  ['blanks instead of a user name', 'username=  \n', 'INSTANCE_USERNAME_INVALID'],
  ['the bare word', 'username', 'INSTANCE_ENTRY_MALFORMED'],
  ['nothing', '', 'INSTANCE_ENTRY_MALFORMED'],
  ['blanks', ' \n', 'INSTANCE_ENTRY_MALFORMED'],
  ['another word', 'notusername=core', 'INSTANCE_ENTRY_MALFORMED'],
  ['the word with a capital', 'Username=core', 'INSTANCE_ENTRY_MALFORMED'],
  ['the word inside another', 'my username=core', 'INSTANCE_ENTRY_MALFORMED'],
  ['a colon for the equals sign', 'username:core', 'INSTANCE_ENTRY_MALFORMED'],
  ['only the equals sign', '=core', 'INSTANCE_ENTRY_MALFORMED'],
  ['just a name', 'core', 'INSTANCE_ENTRY_MALFORMED'],
  ['a second line', 'username=core\npassword=x', 'INSTANCE_USERNAME_INVALID'],
  ['a second setting on the line', 'username=core password=x', 'INSTANCE_USERNAME_INVALID'],
  ['an equals sign after a blank', 'username=a = b', 'a = b'],
  ['a tab inside the name', 'username=a\tb', 'INSTANCE_USERNAME_INVALID'],
  ['the zero byte', 'username=a\0b', 'INSTANCE_USERNAME_INVALID'],
  ['two equals signs after a blank', 'username=a ==b', 'INSTANCE_USERNAME_INVALID'],
  ['80,000 blanks inside the name', `username=a${' '.repeat(80_000)}b`, 'INSTANCE_ENTRY_MALFORMED'],
  ['80,000 blanks around the name', `username=${' '.repeat(80_000)}b`, 'INSTANCE_ENTRY_MALFORMED'],
  ['80,000 equals signs', '='.repeat(80_000), 'INSTANCE_ENTRY_MALFORMED'],
  ['256 characters', `username=${'a'.repeat(256)}`, 'a'.repeat(256)],
  ['257 characters', `username=${'a'.repeat(257)}`, 'INSTANCE_USERNAME_INVALID'],
  ['two backslashes', 'username=A\\B\\c', 'INSTANCE_USERNAME_INVALID'],
  ['a domain without a user', 'username=CORP\\', 'INSTANCE_USERNAME_INVALID'],
  ['a user without a domain', 'username=\\user', 'INSTANCE_USERNAME_INVALID'],
  ...Array.from('"/[]:;|,+*?<>', (sign): [string, string, string] => [
    `the sign ${sign}, which Windows forbids`,
    `username=a${sign}b`,
    'INSTANCE_USERNAME_INVALID',
  ]),
];
for (const [name, value, want] of values) {
  test(`a value with ${name}: ${want.slice(0, 30)}`, () =>
    expect(outcome({ '10.0.0.1': value })).toEqual([['10.0.0.1', want]]));
}

const keys: [string, string, boolean][] = [
  ['an IPv4 address', '10.1.42.1', true],
  ['a name', 'win-1', true],
  ['a full name', 'instance.example.com', true],
  ['a name in capitals', 'WIN-1.Example.com', true],
  ['a name with a dot at its end', 'win-1.example.com.', true],
  ['a name that every object inherits', 'constructor', true],
  ['a name of digits and letters', '1host', true],
  ['a number too large for an address', '10.0.0.256', false],
  ['a short address', '10.0.1', false],
  ['a long address', '10.0.0.1.1', false],
  ['an address with leading zeros', '10.0.0.010', false],
  ['an address with a dot at its end', '10.0.0.1.', false],
  ['a number', '167772161', false],
  ['dots', '...', false],
  ['an underscore', 'win_1', false],
  ['a prototype', '__proto__', false],
  ['a leading hyphen', '-win', false],
  ['a label of 64 characters', 'a'.repeat(64), false],
  ['254 characters', 'a.'.repeat(127), true],
  ['255 characters', `${'a.'.repeat(127)}a`, false],
  ['a million characters', 'a.'.repeat(500_000), false],
  ['a blank', 'win 1', false],
  ['nothing', '', false],
  ['the Kelvin sign', 'win\u212a', false],
  ['an address with a port', '10.0.0.1:22', false],
];
for (const [name, key, isGood] of keys) {
  test(`a key with ${name} is ${isGood ? 'taken' : 'refused'}`, () => {
    const data = Object.fromEntries([[key, 'username=core']]);
    expect(outcome(data)).toEqual([[key, isGood ? 'core' : 'INSTANCE_ADDRESS_INVALID']]);
  });
}

const messages: [string, Record<string, string>, string, string][] = [
  [
    'a malformed entry',
    { 'win-1': 'core' },
    'windows-instances: unable to get username for win-1: data has an incorrect format: it begins with "core", not with username=',
    'username=Administrator',
  ],
  [
    'a bad user name',
    { 'win-1': 'username=a/b' },
    'windows-instances: win-1: user name "a" is followed by "/", which is not allowed in a user name',
    'win-1',
  ],
  [
    'a domain without a user',
    { 'win-1': 'username=CORP\\' },
    String.raw`windows-instances: win-1: user name is "CORP\\", not user or domain\user`,
    'win-1',
  ],
  [
    'an empty user name',
    { 'win-1': 'username=' },
    'windows-instances: win-1: user name is empty',
    'username=Administrator',
  ],
  ['a bad key', { win_1: 'username=a' }, 'windows-instances: key "win_1" is not an IPv4 address or DNS name', 'IPv4'],
  [
    'an IPv6 key',
    { 'fd00::1': 'username=a' },
    'windows-instances: key "fd00::1" is an IPv6 address; Windows nodes need IPv4',
    'IPv4',
  ],
  [
    'one name written twice',
    { 'WIN-1': 'username=a', 'win-1': 'username=b' },
    'windows-instances: win-1 and WIN-1 are the same host (the same name)',
    'WIN-1 is used',
  ],
];
for (const [name, data, message, remedy] of messages) {
  test(`the error for ${name} names ConfigMap, key and value, and names the remedy`, () => {
    const [failure] = parseEntries(data).filter(entry => !entry.ok);
    expect(failure?.error.message).toBe(message);
    expect(failure?.error.remedy).toContain(remedy);
  });
}

const passwords = [
  'password=hunter2',
  'Administrator:hunter2',
  'Administrator hunter2',
  'username: Administrator, hunter2',
  ...Array.from('"/[]:;|,+*?<>', sign => `username=core${sign}hunter2`),
  'username=core\npassword=hunter2',
  'username=core\tpassword=hunter2',
  'username=core password=hunter2',
];
for (const text of passwords) {
  test(`no message shows what may be a password: ${JSON.stringify(text)}`, () => {
    const [entry] = parseEntries({ 'win-1': text });
    expect(entry?.ok === false && entry.error.message).toContain('win-1');
    expect(JSON.stringify(entry?.ok === false && [entry.error.message, entry.error.remedy])).not.toContain('hunter2');
  });
}

test('messages use the given label', () => {
  const [entry] = parseEntries({ 'win-1': '' }, 'ConfigMap ns/x (dump.yaml)');
  expect(entry?.ok === false && entry.error.message).toMatch(/^ConfigMap ns\/x \(dump\.yaml\): /);
});

test('entries are sorted by key', () => {
  const data = {
    b: 'username=1',
    a: 'username=2',
    '10.0.0.9': 'username=3',
    '10.0.0.10': 'username=4',
    B: 'username=5',
  };
  expect(outcome(data).map(([key]) => key)).toEqual(['10.0.0.10', '10.0.0.9', 'B', 'a', 'b']);
});

test('a bad entry hides none of the others', () => {
  const data = {
    bad_key: 'username=a',
    'win-1': 'username=core',
    'win-2': 'junk',
    'win-3': 'username=',
    'win-4': 'username=x',
  };
  expect(outcome(data)).toEqual([
    ['bad_key', 'INSTANCE_ADDRESS_INVALID'],
    ['win-1', 'core'],
    ['win-2', 'INSTANCE_ENTRY_MALFORMED'],
    ['win-3', 'INSTANCE_USERNAME_INVALID'],
    ['win-4', 'x'],
  ]);
});

const twice: [string, Record<string, string>, [string, string][]][] = [
  [
    'in another case',
    { 'WIN-1': 'username=a', 'win-1': 'username=b' },
    [
      ['WIN-1', 'a'],
      ['win-1', 'INSTANCE_DUPLICATE'],
    ],
  ],
  [
    'with a dot at its end',
    { 'win-1': 'username=a', 'win-1.': 'username=b' },
    [
      ['win-1', 'a'],
      ['win-1.', 'INSTANCE_DUPLICATE'],
    ],
  ],
  [
    'three times',
    { A: 'username=a', 'A.': 'username=b', a: 'username=c' },
    [
      ['A', 'a'],
      ['A.', 'INSTANCE_DUPLICATE'],
      ['a', 'INSTANCE_DUPLICATE'],
    ],
  ],
  [
    'where the first cannot be used',
    { 'WIN-1': 'username=', 'win-1': 'username=b' },
    [
      ['WIN-1', 'INSTANCE_USERNAME_INVALID'],
      ['win-1', 'b'],
    ],
  ],
];
for (const [name, data, want] of twice) test(`a host listed twice ${name}`, () => expect(outcome(data)).toEqual(want));

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('10.0.0.1', 'win-1', 'WIN-1', '__proto__', 'constructor', '::1', '', '.', '1.2', '10.0.0.1.'),
);
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string().map(text => `username=${text}`),
);
const map = fc.array(fc.tuple(junk, value), { maxLength: 6 }).map(list => Object.fromEntries(list));

test('every entry of any map has exactly one result, in order', () => {
  fc.assert(
    fc.property(map, data => {
      const entries = parseEntries(data);
      expect(entries.map(entry => entry.address)).toEqual(Object.keys(data).toSorted());
      for (const entry of entries) if (entry.ok) expect(entry.username.trim()).not.toBe('');
    }),
    { numRuns: 2000 },
  );
});

test('an added entry does not affect the others, unless it is the same host', () => {
  const data = { '10.0.0.1': 'username=a', 'win-1': 'username=b' };
  const before = outcome(data);
  fc.assert(
    fc.property(junk, value, (key, text) => {
      fc.pre(!['10.0.0.1', 'win-1'].includes(key.toLowerCase().replace(/\.$/, '')));
      const after = outcome(Object.fromEntries([...Object.entries(data), [key, text]]));
      expect(after.filter(([address]) => address !== key)).toEqual(before);
    }),
    { numRuns: 500 },
  );
});
