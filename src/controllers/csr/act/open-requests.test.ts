import { expect, test } from 'vitest';
import { signer } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { WatchSource } from '#kube/controller/watches.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { OpenRequests } from './open-requests.ts';

function scene() {
  const fed: string[] = [];
  const handlers: Parameters<WatchSource<CertificateSigningRequest>['addHandler']>[0][] = [];
  const store = { list: () => [] };
  const closed: string[] = [];
  const close = (uid: string) => void closed.push(uid);
  const source: WatchSource<CertificateSigningRequest> = {
    synced: Promise.resolve(),
    store,
    addHandler: handler => {
      handlers.push(handler);
      return () => undefined;
    },
  };
  const open = new OpenRequests(source, { close, forget: close });
  open.start(key => void fed.push(key.name));
  const [news] = handlers;
  if (news === undefined) throw new Error('nobody listens');
  const judged = () => [...open.judged()].map(({ name }) => name);
  return { open, news, fed, judged, closed };
}

const request = (name: string, spec: Partial<CertificateSigningRequest['spec']> = {}): CertificateSigningRequest => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { request: '', signerName: signer.apiClient, username: 'joe', ...spec },
});
const decided = (name: string, certificate?: string): CertificateSigningRequest => ({
  ...request(name),
  status: { conditions: [{ type: 'Approved', status: 'True' }], ...(certificate !== undefined && { certificate }) },
});
const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `csr-${from + index}`);

test('the newest requests of one requester are judged, and the oldest give way', () => {
  const { open, news, fed, judged, closed } = scene();
  for (const name of names(25)) news.added(request(name));
  expect(judged()).toEqual(names(20, 5));
  expect(fed).toEqual(names(25));
  expect(closed).toEqual(names(5).map(name => `uid-${name}`));
  expect([open.isJudged(request('csr-4')), open.isJudged(request('csr-5'))]).toEqual([false, true]);
  expect(open.limitPassed(request('csr-0'))).toBe(20);
  news.added(request('of another', { username: 'jim' }));
  expect(open.isJudged(request('of another', { username: 'jim' }))).toBe(true);
  expect(open.limitPassed(request('of another', { username: 'jim' }))).toBeUndefined();
});

test('those that gave way come back when others are decided or gone', () => {
  const { open, news, fed, judged } = scene();
  for (const name of names(23)) news.added(request(name));
  fed.length = 0;
  news.updated(request('csr-22'), decided('csr-22'));
  news.deleted(request('csr-21'));
  expect(fed).toEqual(['csr-0', 'csr-1']);
  expect(open.limitPassed(request('csr-2'))).toBe(20);
  news.deleted(request('csr-2'));
  expect(open.limitPassed(request('csr-0'))).toBeUndefined();
  expect(judged().toSorted()).toEqual([...names(2), ...names(18, 3)].toSorted());
});

test('a change of a request that waits does not get it judged', () => {
  const { news, fed } = scene();
  for (const name of names(21)) news.added(request(name));
  fed.length = 0;
  news.updated(request('csr-0'), request('csr-0'));
  news.updated(request('csr-5'), request('csr-5'));
  expect(fed).toEqual(['csr-5']);
});

const account = 'system:serviceaccount:ns:node-bootstrapper';
const withToken = (id: string) => ({ username: account, extra: { [credentialIdKey]: [id] } });

test('hosts that show tokens of one account are told apart by these', () => {
  const { open, news, judged } = scene();
  for (const name of names(30)) news.added(request(name, withToken('JTI=1')));
  news.added(request('other', withToken('JTI=2')));
  expect(judged()).toHaveLength(21);
  expect(open.limitPassed(request('other', withToken('JTI=2')))).toBeUndefined();
});

test('where tokens have no ids the places of an account are for all hosts that join', () => {
  const { news, judged } = scene();
  for (const name of names(250)) news.added(request(name, { username: account }));
  expect(judged()).toEqual(names(200, 50));
});

test('the id of a certificate gives no further places', () => {
  const { news, judged } = scene();
  for (const name of names(30)) news.added(request(name, { extra: { [credentialIdKey]: [`X509SHA256=${name}`] } }));
  expect(judged()).toHaveLength(20);
});

test('certificates that were issued for agents are looked at, other decided requests are not', () => {
  const { news, fed } = scene();
  news.added(decided('issued', 'Y2VydA=='));
  news.added(decided('approved'));
  news.added({ ...decided('kubelet', 'Y2VydA=='), spec: { ...request('x').spec, signerName: signer.kubeletClient } });
  expect(fed).toEqual(['issued']);
});
