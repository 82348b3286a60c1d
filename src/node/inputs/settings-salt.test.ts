import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import type { SecretObject } from '#kube/resources.ts';
import { secrets } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { saltMember } from './key-store.ts';
import { clusterSalt, SettingsSalt } from './settings-salt.ts';

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

/** The salt of a cluster, with its Secrets; two readers of it, as in the operator. */
function cluster() {
  const api = new WatchedApi(manualClock());
  const open = () => clusterSalt({ informers: api.informers, namespace });
  const [one, other] = [open(), open()];
  const put = (name: string, data: Record<string, string>) =>
    void api.put(secrets, { metadata: { name, namespace }, data });
  const read = () => {
    const [salt, same] = [one.salt.read().reveal(), other.salt.read().reveal()];
    // The hash of the services ConfigMap must be the one that hosts are told.
    expect(same).toBe(salt);
    return salt;
  };
  return { api, put, read, open, salted: one.salted };
}

test('a stored salt stays, whatever happens to the keys of which it was made', () => {
  const { api, put, read, open } = cluster();
  put('cloud-private-key', { 'private-key.pem': toBase64('K') });
  const first = read();
  put('windows-private-keys', { [saltMember]: toBase64(first) });
  put('cloud-private-key', { 'private-key.pem': toBase64('L') });
  expect([read(), open().salt.read().reveal()]).toEqual([first, first]);
  api.remove(secrets, 'cloud-private-key', namespace);
  expect(read()).toBe(first);
});

const losses: [name: string, data: Record<string, string> | undefined][] = [
  ['was deleted', undefined],
  ['is empty', {}],
  ['has an empty salt', { [saltMember]: '' }],
  ['has a salt that is no text', { [saltMember]: Buffer.of(0xff).toString('base64') }],
];
for (const [name, data] of losses) {
  test(`the salt is the same after its Secret ${name}, until the process ends`, () => {
    const { api, put, read, open } = cluster();
    put('windows-private-keys', { [saltMember]: toBase64('S') });
    put('cloud-private-key', { 'private-key.pem': toBase64('K') });
    expect(read()).toBe('S');
    if (data === undefined) api.remove(secrets, 'windows-private-keys', namespace);
    else put('windows-private-keys', data);
    expect(read()).toBe('S');
    expect(open().salt.read().reveal()).not.toBe('S');
  });
}

test('a salt is read beside an entry that is no text, and all its Secrets are watched', () => {
  const { put, read, salted } = cluster();
  put('windows-private-keys', { [saltMember]: toBase64('S'), other: Buffer.of(0xff).toString('base64') });
  expect([read(), salted.length]).toEqual(['S', 3]);
});
