import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../test/kit/api-reader.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { pods, secrets, serviceAccounts } from '../../../kube/resources.ts';
import type { TokenRequest } from '../ports.ts';
import { jwtKey } from './jwt.ts';
import { createTokenIssuer } from './token-requests.ts';
import { TokenSigner } from './token-signer.ts';

const clock = manualClock(Date.UTC(2030, 0, 1));
const key = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const signer = new TokenSigner({ key, issuer: 'https://k', audiences: ['https://k'], clock });
const account = (name: string) => stored(serviceAccounts, { metadata: { namespace: 'ns', name } });
const issuer = createTokenIssuer(
  signer,
  readerOf([
    [secrets, { metadata: { namespace: 'ns', name: 's', uid: 's-uid' } }],
    [secrets, { metadata: { namespace: 'far', name: 'f', uid: 'f-uid' } }],
    [pods, { metadata: { namespace: 'ns', name: 'p', uid: 'p-uid' }, spec: { serviceAccountName: 'sa' } }],
    [pods, { metadata: { namespace: 'ns', name: 'plain', uid: 'plain-uid' }, spec: {} }],
  ]),
);
const issue = (bound?: Partial<NonNullable<TokenRequest['boundObject']>>, name = 'sa') => {
  const boundObject = bound && { apiVersion: 'v1', kind: 'Pod', name: '', uid: '', ...bound };
  const request = { serviceAccount: account(name), audiences: [], expirationSeconds: 600, boundObject };
  return signer.read(issuer.issue(request).token)?.['kubernetes.io'];
};
const own = (name = 'sa') => ({ namespace: 'ns', serviceaccount: { name, uid: `serviceaccounts-ns-${name}` } });

const good: [string, Parameters<typeof issue>, object][] = [
  ['nothing', [], own()],
  ['a pod', [{ name: 'p' }], { ...own(), pod: { name: 'p', uid: 'p-uid' } }],
  ['a pod of this time', [{ name: 'p', uid: 'p-uid' }], { ...own(), pod: { name: 'p', uid: 'p-uid' } }],
  [
    'a pod that names no account',
    [{ name: 'plain' }, 'default'],
    { ...own('default'), pod: { name: 'plain', uid: 'plain-uid' } },
  ],
  ['a Secret', [{ kind: 'Secret', name: 's' }], { ...own(), secret: { name: 's', uid: 's-uid' } }],
];
test.each(good)('binds a token to %s', (_, call, want) => expect(issue(...call)).toEqual(want));

const bad: [string, Parameters<typeof issue>, number, RegExp][] = [
  ['a pod that is not there', [{ name: 'ghost' }], 404, /^pods "ghost" not found$/],
  ['a Secret that is not there', [{ kind: 'Secret', name: 'ghost' }], 404, /^secrets "ghost" not found$/],
  ['a Node that is not there', [{ kind: 'Node', name: 'ghost' }], 404, /^nodes "ghost" not found$/],
  ['a Secret of another namespace', [{ kind: 'Secret', name: 'f' }], 404, /^secrets "f" not found$/],
  ['a pod of another account', [{ name: 'p' }, 'other'], 400, /token for serviceaccount "other" to pod running with/],
  ['a pod that names no account', [{ name: 'plain' }], 400, /different serviceaccount name/],
  [
    'a pod of another time',
    [{ name: 'p', uid: 'old' }],
    409,
    /fulfilled on Pod "p": the UID in the bound object reference \(old\)/,
  ],
  ['a Secret of another time', [{ kind: 'Secret', name: 's', uid: 'old' }], 409, /on Secret "s"/],
  [
    'a kind that cannot be bound',
    [{ kind: 'ConfigMap', name: 'x' }],
    400,
    /cannot bind token to object of type \/v1, Kind=ConfigMap/,
  ],
  ['a pod of another group', [{ apiVersion: 'x/v1', name: 'p' }], 400, /object of type x\/v1, Kind=Pod/],
  ['a member of every object', [{ kind: 'toString', name: 'p' }], 400, /cannot bind token/],
];
test.each(bad)('binds no token to %s', (_, call, code, message) => {
  expect(() => issue(...call)).toThrow(
    expect.objectContaining({ message: expect.stringMatching(message), status: expect.objectContaining({ code }) }),
  );
});
