import { expect, test } from 'vitest';
import { parseDesiredServices, printDesiredServices, servicesHash, shortHash } from './hash.ts';

test('the hash depends on content and not on the order of keys', () => {
  expect(servicesHash({ a: '1', b: '2' })).toBe(servicesHash({ b: '2', a: '1' }));
  expect(servicesHash({ a: '1', b: '2' })).not.toBe(servicesHash({ a: '1', b: '3' }));
  expect(servicesHash({ a: '1', b: '2' })).not.toBe(servicesHash({ a: '1b', '': '2' }));
});

test('the annotation is read as it is printed', () => {
  const desired = { version: '10.22.0-a1b2c3d+x', hash: servicesHash({}), files: shortHash('') };
  expect(parseDesiredServices(printDesiredServices(desired))).toEqual(desired);
});

const invalid = [undefined, '', 'v1', `v1:${shortHash('')}`, `:${shortHash('')}:${shortHash('')}`, 'v1:xyz:abc'];
test.each(invalid)('%j counts as missing', text => {
  expect(parseDesiredServices(text)).toBeUndefined();
});
