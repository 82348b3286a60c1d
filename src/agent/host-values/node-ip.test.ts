import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isIpv4 } from '#base/ipv4.ts';
import { adapter } from '../../../test/kit/model-host.ts';
import type { Adapter } from '../ports.ts';
import { nodeIp } from './node-ip.ts';

const down = (one: Adapter): Adapter => ({ ...one, isUp: false });
const at = (index: number, one: Adapter): Adapter => ({ ...one, index });

const cases: [string, Adapter[], string][] = [
  ['the only adapter', [adapter('a', ['10.0.0.5/24'], 25)], '10.0.0.5'],
  ['the lowest metric', [adapter('a', ['10.0.0.5/24'], 25), adapter('b', ['10.0.1.5/24'], 15)], '10.0.1.5'],
  ['a metric of nothing', [adapter('a', ['10.0.0.5/24'], 25), adapter('b', ['10.0.1.5/24'], 0)], '10.0.1.5'],
  ['an adapter with a default route', [adapter('a', ['10.0.0.5/24']), adapter('b', ['10.0.1.5/24'], 99)], '10.0.1.5'],
  ['an adapter that is up', [down(adapter('a', ['10.0.0.5/24'], 5)), adapter('b', ['10.0.1.5/24'], 9)], '10.0.1.5'],
  [
    'the lower index where metrics are equal',
    [at(9, adapter('a', ['10.0.0.5/24'], 5)), at(3, adapter('b', ['10.0.1.5/24'], 5))],
    '10.0.1.5',
  ],
  ['IPv4 among addresses of both kinds', [adapter('a', ['fe80::1/64', '10.0.0.5/24', 'fd00::1/64'], 5)], '10.0.0.5'],
  ['the first of several addresses', [adapter('a', ['10.0.0.5/24', '10.0.0.6/24'], 5)], '10.0.0.5'],
  ['no address of its own making', [adapter('a', ['169.254.3.4/16', '10.0.0.6/24'], 5)], '10.0.0.6'],
  ['addresses next to those', [adapter('a', ['169.253.255.255/16'], 5)], '169.253.255.255'],
  [
    'another adapter where one has none but that',
    [adapter('a', ['169.254.3.4/16'], 5), adapter('b', ['10.0.0.6/24'], 9)],
    '10.0.0.6',
  ],
  ['an address without a length', [adapter('a', ['10.0.0.5'], 5)], '10.0.0.5'],
];
for (const [name, adapters, want] of cases) test(`takes ${name}`, () => expect(nodeIp(adapters)).toBe(want));

const hopeless: [string, Adapter[], string][] = [
  ['no adapter', [], 'adapters: none'],
  ['no default route', [adapter('a', ['10.0.0.5/24'])], 'adapters: a (up)'],
  ['no IPv4', [adapter('a', ['fe80::1/64'], 5)], 'a (up)'],
  ['only addresses that lead nowhere', [adapter('a', ['127.0.0.1/8', '169.254.0.1/16', '0.0.0.0/0'], 5)], 'a (up)'],
  ['everything down', [down(adapter('a', ['10.0.0.5/24'], 5))], 'a (down)'],
  ['something that is no address', [adapter('a', ['10.0.0.256/24', 'x', ''], 5)], 'a (up)'],
];
for (const [name, adapters, message] of hopeless) {
  test(`fails without a usable address: ${name}`, () => {
    expect(() => nodeIp(adapters)).toThrow(expect.objectContaining({ code: 'HOST_VALUE_UNKNOWN' }));
    expect(() => nodeIp(adapters)).toThrow(message);
  });
}

test('is always one address, and one of those given', () => {
  const address = fc.constantFrom('10.0.0.5/24', '10.0.0.6/24', 'fe80::1/64', '169.254.1.1/16', 'x');
  const any = fc.record({ addresses: fc.array(address), isUp: fc.boolean(), metric: fc.option(fc.nat(3)) });
  fc.assert(
    fc.property(fc.array(any), given => {
      const adapters = given.map(({ addresses, isUp, metric }, index) => ({
        ...at(index, adapter('a', addresses, metric ?? undefined)),
        isUp,
      }));
      try {
        const ip = nodeIp(adapters);
        expect(isIpv4(ip)).toBe(true);
        expect(adapters.flatMap(one => one.addresses)).toContain(`${ip}/24`);
      } catch (error) {
        expect(error).toMatchObject({ code: 'HOST_VALUE_UNKNOWN' });
      }
    }),
    { numRuns: 1000 },
  );
});
