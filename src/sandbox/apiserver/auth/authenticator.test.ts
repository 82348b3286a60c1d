import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../test/kit/api-reader.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { toBase64 } from '../../../base/bytes.ts';
import { timestamp } from '../../../base/clock.ts';
import { sha256 } from '../../../base/sha256.ts';
import type { KubeResource, Resource } from '../../../kube/resource.ts';
import { nodes, pods, secrets, serviceAccounts } from '../../../kube/resources.ts';
import type { UserInfo } from '../ports.ts';
import { createAuthenticator } from './authenticator.ts';
import { createAuthority, issueClientPair, issueServerPair } from './ca.ts';
import { type Claims, jwtKey, signJwt } from './jwt.ts';
import { TokenSigner } from './token-signer.ts';

type Objects = (readonly [Resource, KubeResource & Record<string, unknown>])[];

const startMs = Date.UTC(2030, 0, 1);
const clock = manualClock(startMs);
const ca = createAuthority('ours', clock);
const key = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const issuer = 'https://kubernetes.default.svc';
const signer = new TokenSigner({ key, issuer, audiences: [issuer, 'api'], clock });

const account = stored(serviceAccounts, { metadata: { namespace: 'ns', name: 'sa' } });
const pod = stored(pods, { metadata: { namespace: 'ns', name: 'pod' } });
const node = stored(nodes, { metadata: { name: 'node' } });
const bound = stored(secrets, { metadata: { namespace: 'ns', name: 'bound' } });
const legacyToken = signer.issueLegacy(account, 'sa-token');
const tokenSecret = stored(secrets, {
  metadata: { namespace: 'ns', name: 'sa-token' },
  data: { token: toBase64(legacyToken) },
});
const everything: Objects = [
  [serviceAccounts, account],
  [pods, pod],
  [nodes, node],
  [secrets, bound],
  [secrets, tokenSecret],
];

const authenticatorOver = (objects: Objects, options: { now?: number } = {}) =>
  createAuthenticator({
    api: readerOf(objects, manualClock(options.now ?? startMs)),
    signer,
    authority: ca.certificate,
  });
const authenticator = authenticatorOver(everything);
const der = (pem: string): Uint8Array => new X509Certificate(pem).raw;
const show = (authorization?: string, clientCertificate?: Uint8Array) => ({ authorization, clientCertificate });
const whoIs = (token: string, objects = everything, now = startMs) =>
  authenticatorOver(objects, { now }).authenticate(show(`Bearer ${token}`));

const jane = der(issueClientPair(ca, { commonName: 'jane', organizations: ['dev'] }, clock).certificate);
const nameless = der(issueClientPair(ca, { commonName: '', organizations: ['system:masters'] }, clock).certificate);
const server = der(issueServerPair(ca, ['x'], clock).certificate);
const theirs = der(issueClientPair(createAuthority('theirs', clock), { commonName: 'jane' }, clock).certificate);

const janeUser = { username: 'jane', groups: ['dev', 'system:authenticated'] };
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
const saUser = {
  username: 'system:serviceaccount:ns:sa',
  uid: account.metadata.uid,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
};

const credentials: [string, ReturnType<typeof show>, UserInfo | undefined][] = [
  ['a certificate of our authority', show(undefined, jane), janeUser],
  ['a certificate before a token', show(`Bearer ${legacyToken}`, jane), janeUser],
  ['a token beside a bad certificate', show(`Bearer ${legacyToken}`, theirs), saUser],
  ['a bad certificate', show(undefined, theirs), undefined],
  ['a certificate for servers', show(undefined, server), undefined],
  ['a certificate without a name', show(undefined, nameless), anonymous],
  ['the scheme in other letters', show(`bearer ${legacyToken}`), saUser],
  ['space around', show(`  Bearer ${legacyToken} `), saUser],
  ['something behind the token', show(`Bearer ${legacyToken} more`), saUser],
  ['a wrong token', show('Bearer open-says-me'), undefined],
  ['a part of a token', show('Bearer open'), undefined],
  ['no token after the scheme', show('Bearer '), anonymous],
  ['two spaces before the token', show(`Bearer  ${legacyToken}`), anonymous],
  ['another scheme', show('Basic YWRtaW46YWRtaW4='), anonymous],
  ['an empty header', show(''), anonymous],
  ['no credentials', show(), anonymous],
  ['a service account token of a Secret', show(`Bearer ${legacyToken}`), saUser],
];
test.each(credentials)('%s', (_, shown, want) => expect(authenticator.authenticate(shown)).toEqual(want));

test('an expired certificate is refused', () => {
  const later = authenticatorOver(everything, { now: startMs + 366 * 24 * 3_600_000 });
  expect(later.authenticate(show(undefined, jane))).toBeUndefined();
});

const replaced = (target: { metadata: KubeResource['metadata'] }, metadata: object): Objects =>
  everything.map(([resource, object]) =>
    object === target ? [resource, { ...object, metadata: { ...object.metadata, ...metadata } }] : [resource, object],
  );
const without = (target: unknown): Objects => everything.filter(([, object]) => object !== target);
const deletedAt = (secondsAgo: number) => ({ deletionTimestamp: timestamp(startMs - secondsAgo * 1000) });

const legacyEnds: [string, Objects][] = [
  ['its Secret is gone', without(tokenSecret)],
  ['its Secret is being deleted', replaced(tokenSecret, deletedAt(0))],
  [
    'its Secret holds another token',
    [...without(tokenSecret), [secrets, { ...tokenSecret, data: { token: toBase64('x') } }]],
  ],
  ['its Secret is empty', [...without(tokenSecret), [secrets, { metadata: tokenSecret.metadata }]]],
  ['its account is gone', without(account)],
  ['its account is being deleted', replaced(account, deletedAt(0))],
  ['its account was recreated', replaced(account, { uid: 'another' })],
];
test.each(legacyEnds)('a token of a Secret ends when %s', (_, objects) => {
  expect(whoIs(legacyToken)).toEqual(saUser);
  expect(whoIs(legacyToken, objects)).toBeUndefined();
});

test('a token of a Secret never expires', () => {
  expect(whoIs(legacyToken, everything, startMs + 20 * 365 * 24 * 3_600_000)).toEqual(saUser);
});

const request = { serviceAccount: account, audiences: [], expirationSeconds: 3600, boundObject: undefined };
const boundTo = (object: { metadata: KubeResource['metadata'] }, kind: string) => ({
  ...request,
  boundObject: { kind, apiVersion: 'v1', name: object.metadata.name ?? '', uid: object.metadata.uid ?? '' },
});
const podToken = signer.issue(boundTo(pod, 'Pod')).token;
const nodeToken = signer.issue(boundTo(node, 'Node')).token;
const secretToken = signer.issue(boundTo(bound, 'Secret')).token;
const plainToken = signer.issue(request).token;

test('a requested token has audience and expiration', () => {
  const issued = signer.issue(request);
  expect(issued.audiences).toEqual([issuer, 'api']);
  expect(issued.expirationTimestamp).toBe('2030-01-01T01:00:00Z');
  expect(signer.read(issued.token)).toEqual({
    iss: issuer,
    sub: 'system:serviceaccount:ns:sa',
    aud: [issuer, 'api'],
    iat: startMs / 1000,
    nbf: startMs / 1000,
    exp: startMs / 1000 + 3600,
    'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'sa', uid: account.metadata.uid } },
  });
  expect(signer.read(podToken)).toEqual(
    expect.objectContaining({
      'kubernetes.io': expect.objectContaining({ pod: { name: 'pod', uid: pod.metadata.uid } }),
    }),
  );
});

test('a token bound to a pod identifies the pod', () => {
  expect(whoIs(plainToken)).toEqual(saUser);
  expect(whoIs(secretToken)).toEqual(saUser);
  expect(whoIs(podToken)).toEqual({
    ...saUser,
    extra: {
      'authentication.kubernetes.io/pod-name': ['pod'],
      'authentication.kubernetes.io/pod-uid': [pod.metadata.uid],
    },
  });
});

test('a token bound to a Node identifies the Node', () => {
  expect(whoIs(nodeToken)).toEqual({
    ...saUser,
    extra: {
      'authentication.kubernetes.io/node-name': ['node'],
      'authentication.kubernetes.io/node-uid': [node.metadata.uid],
    },
  });
});

test('a client certificate has an ID where the server gives one', () => {
  const newer = createAuthenticator({
    api: readerOf([], clock),
    signer,
    authority: ca.certificate,
    givesCertificateIds: true,
  });
  expect(newer.authenticate(show(undefined, jane))?.extra).toEqual({
    'authentication.kubernetes.io/credential-id': [`X509SHA256=${sha256(jane)}`],
  });
});

test('a token with an ID identifies its credential', () => {
  const withIds = new TokenSigner({ key, issuer, audiences: [issuer], clock, givesIds: true });
  const issue = () =>
    withIds.issue({ serviceAccount: account, audiences: [], expirationSeconds: 3600, boundObject: undefined }).token;
  const [one, two] = [issue(), issue()];
  const idOf = (token: string) => whoIs(token)?.extra?.['authentication.kubernetes.io/credential-id']?.[0];
  expect(idOf(one)).toBe(`JTI=${String(withIds.read(one)?.['jti'])}`);
  expect(idOf(one)).not.toBe(idOf(two));
  expect(idOf(plainToken)).toBeUndefined();
});

const boundEnds: [string, string, Objects][] = [
  ['the pod is gone', podToken, without(pod)],
  ['another pod has its name', podToken, replaced(pod, { uid: 'another' })],
  ['the pod was deleted more than a minute ago', podToken, replaced(pod, deletedAt(61))],
  ['the Node is gone', nodeToken, without(node)],
  ['another Node has its name', nodeToken, replaced(node, { uid: 'another' })],
  ['the Secret is gone', secretToken, without(bound)],
  ['another Secret has its name', secretToken, replaced(bound, { uid: 'another' })],
  ['the account is gone', plainToken, without(account)],
  ['another account has its name', plainToken, replaced(account, { uid: 'another' })],
  ['the account was deleted more than a minute ago', plainToken, replaced(account, deletedAt(61))],
];
test.each(boundEnds)('a requested token ends when %s', (_, token, objects) => {
  expect(whoIs(token, objects)).toBeUndefined();
});

test('a requested token outlives the deletion of its pod by a minute, for the pod still runs', () => {
  expect(whoIs(podToken, replaced(pod, deletedAt(59)))?.username).toBe(saUser.username);
});

const times: [string, number, boolean][] = [
  ['a minute before it was issued', -60, true],
  ['more than a minute before', -61, false],
  ['at its end', 3600, true],
  ['a minute after its end', 3660, true],
  ['more than a minute after', 3661, false],
];
test.each(times)('a requested token is judged by the time: %s', (_, seconds, good) => {
  expect(whoIs(plainToken, everything, startMs + seconds * 1000) !== undefined).toBe(good);
});

const own = { namespace: 'ns', serviceaccount: { name: 'sa', uid: account.metadata.uid } };
const claims: Claims = { iss: issuer, aud: ['api'], exp: startMs / 1000 + 60, 'kubernetes.io': own };
const oddClaims: [string, Claims][] = [
  ['another issuer', { ...claims, iss: 'https://example.com' }],
  ['no issuer', { ...claims, iss: undefined }],
  ['no end', { ...claims, exp: undefined }],
  ['an end that is a text', { ...claims, exp: '9999999999' }],
  ['an issue date in the future', { ...claims, iat: startMs / 1000 + 3600 }],
  ['a start in the future', { ...claims, nbf: startMs / 1000 + 3600 }],
  ['an audience elsewhere', { ...claims, aud: ['vault'] }],
  ['an empty list of audiences', { ...claims, aud: [] }],
  ['an audience that is no text', { ...claims, aud: [7] }],
  ['no account', { ...claims, 'kubernetes.io': { namespace: 'ns' } }],
  ['no namespace', { ...claims, 'kubernetes.io': { serviceaccount: own.serviceaccount } }],
  ['an account without uid', { ...claims, 'kubernetes.io': { ...own, serviceaccount: { name: 'sa' } } }],
  ['a binding to nothing', { ...claims, 'kubernetes.io': { ...own, pod: {} } }],
  ['a binding that is a text', { ...claims, 'kubernetes.io': { ...own, secret: 'bound' } }],
  ['claims that are a text', { ...claims, 'kubernetes.io': 'ns' }],
  ['a legacy token for another account', { ...signer.read(legacyToken), sub: 'system:serviceaccount:ns:other' }],
  ['a legacy token without a subject', { ...signer.read(legacyToken), sub: undefined }],
];
test.each(oddClaims)('rejects an issued token with %s', (_, odd) => {
  expect(whoIs(signJwt(claims, key))?.username).toBe(saUser.username);
  expect(whoIs(signJwt(odd, key))).toBeUndefined();
});

test('one audience may be written without a list', () => {
  expect(whoIs(signJwt({ ...claims, aud: 'api' }, key))?.username).toBe(saUser.username);
});

const audienceCases: [string, string, string[], string[] | undefined][] = [
  ['the server’s own when none are asked for', plainToken, [], [issuer, 'api']],
  ['those asked for', plainToken, ['api', 'vault'], ['api']],
  ['none that the token is not for', plainToken, ['vault'], undefined],
  [
    'those of a token for another audience',
    signer.issue({ ...request, audiences: ['vault'] }).token,
    ['vault', 'x'],
    ['vault'],
  ],
  ['none of a token for another audience', signer.issue({ ...request, audiences: ['vault'] }).token, [], undefined],
  ['the server’s own for legacy tokens', legacyToken, ['api'], ['api']],
  ['none elsewhere for legacy tokens', legacyToken, ['vault'], undefined],
  ['none for nonsense', 'nonsense', [], undefined],
];
test.each(audienceCases)('a review names %s', (_, token, asked, want) => {
  expect(authenticator.reviewToken(token, asked)?.audiences).toEqual(want);
});

test('a review returns the user', () => {
  expect(authenticator.reviewToken(plainToken, [])?.user).toEqual(saUser);
});

test('a changed token of any kind is rejected', () => {
  const tokens = [legacyToken, plainToken, podToken];
  fc.assert(
    fc.property(
      fc.constantFrom(...tokens),
      fc.nat(2000),
      fc.string({ minLength: 1, maxLength: 1 }),
      (token, at, text) => {
        const place = at % token.length;
        const changed = token.slice(0, place) + text + token.slice(place + 1);
        fc.pre(changed !== token);
        expect(authenticator.reviewToken(changed, [])).toBeUndefined();
      },
    ),
    { numRuns: 2000 },
  );
});
