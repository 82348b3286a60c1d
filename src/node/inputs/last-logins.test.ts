import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { LastLogins } from './last-logins.ts';

const secret = (text: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'pull-secret' },
  data: { '.dockerconfigjson': toBase64(text) },
});
const good = '{"auths":{"quay.io":{"auth":"Ym9iOnB3"}}}';

test('a pull secret that becomes unreadable counts as before, and the problem is known', () => {
  const logins = new LastLogins();
  expect(logins.read(secret(good)).reveal()).toBe(good);
  expect(logins.read(secret('{"auths":')).reveal()).toBe(good);
  expect(logins.problem?.code).toBe('PULL_SECRET_MALFORMED');
  logins.read(secret(good));
  expect(logins.problem).toBeUndefined();
});

test('a missing one takes the logins away from hosts', () => {
  const logins = new LastLogins();
  logins.read(secret(good));
  expect(logins.read(undefined).reveal()).toBe('{"auths":{}}');
});

test('one that was never readable is an error', () => {
  expect(() => new LastLogins().read(secret('{'))).toThrow('pull secret');
});
