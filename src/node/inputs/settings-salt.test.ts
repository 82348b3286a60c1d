import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import type { SecretObject } from '#kube/resources.ts';
import { SettingsSalt } from './settings-salt.ts';

function begin() {
  const stored: Record<'key' | 'tls', SecretObject[]> = { key: [], tls: [] };
  const source = (name: 'key' | 'tls') => [{ store: { list: () => stored[name] } }, 'member'] as const;
  const salt = new SettingsSalt([source('key'), source('tls')]);
  const put = (name: 'key' | 'tls', text: string) => {
    stored[name] = [{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { member: toBase64(text) } }];
  };
  return { salt, put, stored, read: () => salt.forServices({ environment: { HTTP_PROXY: 'http://a:b@c' } }) };
}

test('is made of the SSH key, or else of the TLS key, and outlives both', () => {
  const { put, stored, read } = begin();
  expect(read()).toBe('');
  put('tls', 'T');
  const ofTls = read();
  put('key', 'K');
  const ofKey = read();
  expect(new Set(['', ofTls, ofKey]).size).toBe(3);
  Object.assign(stored, { key: [], tls: [] });
  expect(read()).toBe(ofKey);
});

test('services without variables need none, and the salt of services does not show that of files', () => {
  const { salt, put, read } = begin();
  put('key', 'K');
  expect(salt.forServices({ environment: {} })).toBe('');
  expect(salt.read().reveal()).not.toContain(read());
});
