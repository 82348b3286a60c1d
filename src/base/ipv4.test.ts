import { isIPv4, isIPv6 } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isIp, isIpv4, isIpv6, parseIpv4, parseIpv4Cidr, printIpv4 } from './ipv4.ts';

const addresses: [string, number][] = [
  ['0.0.0.0', 0],
  ['0.0.0.1', 1],
  ['1.2.3.4', 0x01020304],
  ['10.1.42.1', 0x0a012a01],
  ['127.255.255.255', 0x7fffffff],
  ['128.0.0.0', 0x80000000],
  ['255.255.255.255', 0xffffffff],
];
for (const [text, bits] of addresses) {
  test(`${text} is read and printed`, () => {
    expect(parseIpv4(text)).toBe(bits);
    expect(printIpv4(bits)).toBe(text);
    expect(isIpv4(text)).toBe(true);
  });
}

const junk: [string, string][] = [
  ['nothing', ''],
  ['three parts', '1.2.3'],
  ['five parts', '1.2.3.4.5'],
  ['one number', '16909060'],
  ['a part over 255', '1.2.3.256'],
  ['a part of four digits', '1.2.3.1000'],
  ['a leading zero, which some read as octal', '10.0.0.010'],
  ['only zeros', '00.0.0.0'],
  ['hexadecimal', '0x7f.0.0.1'],
  ['an empty part', '1..2.3'],
  ['a trailing dot', '1.2.3.4.'],
  ['a leading blank', ' 1.2.3.4'],
  ['a trailing line break', '1.2.3.4\n'],
  ['a sign', '+1.2.3.4'],
  ['a negative part', '1.2.3.-4'],
  ['an exponent', '1e1.2.3.4'],
  ['digits of another script', '١.٢.٣.٤'],
  ['full-width digits', '１.2.3.4'],
  ['a port', '1.2.3.4:22'],
  ['a prefix length', '1.2.3.4/24'],
  ['a name', 'localhost'],
  ['an IPv6 address', '::1'],
];
for (const [name, text] of junk) {
  test(`${name} is no IPv4 address`, () => {
    expect(parseIpv4(text)).toBeUndefined();
    expect(isIpv4(text)).toBe(false);
  });
}

test('reads exactly what Node takes for an IPv4 address', () => {
  const part = fc.oneof(fc.nat({ max: 300 }).map(String), fc.constantFrom('00', '01', '', '256', 'a', ' 1', '1e0'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), parts => {
      expect(isIpv4(parts.join('.'))).toBe(isIPv4(parts.join('.')));
    }),
    { numRuns: 2000 },
  );
});

test('prints any 32 bits so that they are read as the same', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), bits => parseIpv4(printIpv4(bits)) === bits));
});

const ipv6: [string, boolean][] = [
  ['::', true],
  ['::1', true],
  ['fd00::1', true],
  ['FE80::AbCd', true],
  ['2001:db8:0:0:0:0:2:1', true],
  ['::ffff:10.0.0.1', true],
  ['fe80::1%eth0', true],
  ['fe80::1%12', true],
  ['10.0.0.1', false],
  ['localhost', false],
  ['fd00', false],
  ['beef.cafe', false],
  ['host:8080', false],
  ['10.0.0.1:22', false],
  ['', false],
  ['%eth0', false],
];
for (const [text, want] of ipv6) {
  test(`${JSON.stringify(text)} ${want ? 'looks like' : 'is no'} IPv6`, () => expect(isIpv6(text)).toBe(want));
}

test('recognizes every real IPv6 address, and no IPv4 address or host name', () => {
  fc.assert(
    fc.property(fc.ipV6(), text => isIPv6(text) && isIpv6(text)),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(fc.ipV4(), text => !isIpv6(text)));
  fc.assert(fc.property(fc.domain(), text => !isIpv6(text)));
});

test('a long row of colons costs no time', () => {
  const started = performance.now();
  expect(isIpv6(`${':'.repeat(200_000)}x`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(10_000);
});

const networks: [string, string, number, number][] = [
  ['172.30.0.0/16', '172.30.0.0', 16, 65_536],
  ['172.30.5.7/16', '172.30.0.0', 16, 65_536],
  ['10.0.0.0/8', '10.0.0.0', 8, 2 ** 24],
  ['10.128.0.0/9', '10.128.0.0', 9, 2 ** 23],
  ['192.168.1.77/28', '192.168.1.64', 28, 16],
  ['255.255.255.255/1', '128.0.0.0', 1, 2 ** 31],
  ['1.2.3.4/32', '1.2.3.4', 32, 1],
  ['1.2.3.4/0', '0.0.0.0', 0, 2 ** 32],
];
for (const [text, base, prefixLength, size] of networks) {
  test(`${text} is a network of ${size} addresses from ${base}`, () => {
    expect(parseIpv4Cidr(text)).toEqual({ base: parseIpv4(base), prefixLength, size });
  });
}

const noNetworks = [
  '',
  '/',
  '10.0.0.0',
  '10.0.0.0/',
  '/8',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/+8',
  '10.0.0.0/8/8',
  '10.0.0.0/8 ',
  '10.0.0/8',
  '10.0.0.0/255.0.0.0',
  '10.0.0.0/1e1',
  'fd00::/8',
];
for (const text of noNetworks) {
  test(`${JSON.stringify(text)} is no network`, () => expect(parseIpv4Cidr(text)).toBeUndefined());
}

test('a network contains the address it was written with and begins at a multiple of its size', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, length) => {
      const network = parseIpv4Cidr(`${address}/${length}`) ?? { base: -1, size: 1, prefixLength: -1 };
      const bits = parseIpv4(address) ?? -1;
      expect(network.base % network.size).toBe(0);
      expect(bits - network.base).toBeGreaterThanOrEqual(0);
      expect(bits - network.base).toBeLessThan(network.size);
      expect(network.size * 2 ** length).toBe(2 ** 32);
    }),
  );
});

for (const [text, want] of [
  ['10.0.0.1', true],
  ['fd00::1', true],
  ['win1', false],
  ['10.0.0.1:22', false],
  ['', false],
] as const) {
  test(`${JSON.stringify(text)} is ${want ? 'an address' : 'no address'} of either family`, () => {
    expect(isIp(text)).toBe(want);
  });
}
