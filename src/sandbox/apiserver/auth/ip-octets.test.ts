import { SocketAddress } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ipOctets } from './ip-octets.ts';

const zeros = (count: number) => Array.from({ length: count }, () => 0);

const cases: [string, number[] | undefined][] = [
  ['10.0.255.1', [10, 0, 255, 1]],
  ['::', zeros(16)],
  ['::1', [...zeros(15), 1]],
  ['fe80::', [0xfe, 0x80, ...zeros(14)]],
  ['2001:db8::a:1', [0x20, 0x01, 0x0d, 0xb8, ...zeros(8), 0, 0x0a, 0, 1]],
  ['1:2:3:4:5:6:7:8', [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]],
  ['::ffff:1.2.3.4', [...zeros(10), 0xff, 0xff, 1, 2, 3, 4]],
  ['fe80::1%eth0', undefined],
  ['10.0.0', undefined],
  ['win-1', undefined],
  ['', undefined],
  ['1::2::3', undefined],
];
test.each(cases)('%s', (text, want) => expect(ipOctets(text)).toEqual(want));

test('addresses of every form keep their value', () => {
  fc.assert(
    fc.property(fc.ipV6(), text => {
      const octets = ipOctets(text);
      expect(octets).toHaveLength(16);
      const groups = Array.from({ length: 8 }, (_, at) => ((octets?.[2 * at] ?? 0) << 8) | (octets?.[2 * at + 1] ?? 0));
      const plain = (address: string) => new SocketAddress({ family: 'ipv6', address }).address;
      expect(plain(groups.map(group => group.toString(16)).join(':'))).toBe(plain(text));
    }),
    { numRuns: 1000 },
  );
});
