import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isHostName, isNodeName, normalHostName, sameHost } from './dns-name.ts';

const longest = Array.from({ length: 4 }, () => 'a'.repeat(63)).join('.');

const nodeNames: [string, string, boolean][] = [
  ['one label', 'win-1', true],
  ['several labels', 'win-1.example.com', true],
  ['one letter', 'a', true],
  ['digits', '0', true],
  ['an IPv4 address', '10.0.0.1', true],
  ['a label of 63', 'a'.repeat(63), true],
  ['a label of 64', 'a'.repeat(64), false],
  ['253 characters', longest.slice(0, 253), true],
  ['254 characters', longest.slice(0, 254), false],
  ['nothing', '', false],
  ['a dot', '.', false],
  ['a leading dot', '.a', false],
  ['a trailing dot', 'a.', false],
  ['two dots in a row', 'a..b', false],
  ['capitals', 'WIN-1', false],
  ['a leading hyphen', '-a', false],
  ['a trailing hyphen', 'a-', false],
  ['a label with a trailing hyphen', 'a-.b', false],
  ['an underscore', 'win_1', false],
  ['a blank', 'win 1', false],
  ['a trailing line break', 'a\n', false],
  ['a letter beyond ASCII', 'wín', false],
  ['a wildcard', '*.example.com', false],
  ['a colon', 'a:1', false],
];
for (const [name, text, want] of nodeNames) {
  test(`${name} is ${want ? 'a' : 'no'} name of a Node`, () => expect(isNodeName(text)).toBe(want));
}

const hostNames: [string, string, boolean][] = [
  ['capitals', 'WIN-1.Example.COM', true],
  ['a trailing dot', 'win-1.example.com.', true],
  ['two trailing dots', 'win-1..', false],
  ['a dot alone', '.', false],
  ['nothing', '', false],
  ['an underscore', 'win_1', false],
  ['the Kelvin sign, whose small letter is k', 'win\u212a', false],
  ['a capital beyond ASCII', 'WİN', false],
  ['253 characters and a dot', `${longest.slice(0, 253)}.`, true],
];
for (const [name, text, want] of hostNames) {
  test(`${name} is ${want ? 'a' : 'no'} host name`, () => expect(isHostName(text)).toBe(want));
}

const normal: [string, string][] = [
  ['WIN-1.Example.COM.', 'win-1.example.com'],
  ['win-1', 'win-1'],
  ['win-1..', 'win-1.'],
  ['', ''],
  ['.', ''],
  ['10.0.0.1', '10.0.0.1'],
  ['\u212aelvin', '\u212aelvin'],
  ['FD00::A', 'fd00::a'],
];
for (const [text, want] of normal) {
  test(`${JSON.stringify(text)} is normally ${JSON.stringify(want)}`, () => expect(normalHostName(text)).toBe(want));
}

const hosts: [string, string, boolean][] = [
  ['win-1', 'win-1', true],
  ['WIN-1', 'win-1', true],
  ['win-1.', 'WIN-1', true],
  ['win-1', 'win-1.example.com', true],
  ['WIN-1', 'win-1.example.com.', true],
  ['win-1.example.com', 'win-1.example.com.', true],
  ['win-1.example.com', 'win-1.example.org', false],
  ['win-1.a', 'win-1.a.b', false],
  ['a', 'win-a', false],
  ['win', 'win-1', false],
  ['win-1', 'win-10', false],
  ['win-1', 'x.win-1', false],
  ['example', 'win-1.example.com', false],
  ['com', 'win-1.example.com', false],
  ['', '', false],
  ['', 'win-1', false],
  ['.', 'win-1', false],
  ['.', '.', false],
  ['', '.example.com', false],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '10.0.0.10', false],
  ['10', '10.0.0.1', false],
  ['10', '10.example.com', true],
  ['\u212a', 'k', false],
];
for (const [one, other, want] of hosts) {
  test(`${JSON.stringify(one)} and ${JSON.stringify(other)} are ${want ? 'one host' : 'two hosts'}`, () => {
    expect(sameHost(one, other)).toBe(want);
    expect(sameHost(other, one)).toBe(want);
  });
}

test('every domain is a host name, in any case and with a dot', () => {
  fc.assert(
    fc.property(fc.domain(), name => {
      expect(isHostName(`${name.toUpperCase()}.`)).toBe(true);
      expect(sameHost(name, `${name.toUpperCase()}.`)).toBe(true);
    }),
  );
});

test('a part of a name that is not its first label is another host', () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  fc.assert(
    fc.property(label, label, label, (host, domain, other) => {
      fc.pre(other !== host);
      expect(sameHost(host, `${host}.${domain}`)).toBe(true);
      expect(sameHost(other, `${host}.${domain}`)).toBe(false);
      expect(sameHost(`${other}.${domain}`, `${host}.${domain}`)).toBe(false);
    }),
  );
});
