import { sign } from 'node:crypto';
import type { AuthContext, AuthenticationType } from 'ssh2';
import { expect, test } from 'vitest';
import type { PrivateKey } from '#host/keys/private-key.ts';
import { makeKey } from '../../../../test/kit/ssh-server.ts';
import type { Traits } from '../traits.ts';
import { decideLogin, type LoginRules } from './login.ts';

const [known, other] = [makeKey().key, makeKey().key];
const lineOf = ({ publicKey }: PrivateKey) => ({ key: publicKey, options: [] });
const message = Buffer.from('what the client signs');

interface Attempt {
  method?: AuthenticationType;
  username?: string;
  key?: PrivateKey;
  /** Without it the client only asks whether the key would do. */
  signature?: 'good' | 'bad' | 'none';
}

/** What becomes of an attempt: `accepted`, or what is offered instead. */
function outcomeOf(attempt: Attempt, rules: Partial<LoginRules> = {}): string {
  const { method = 'publickey', username = 'Administrator', key = known, signature = 'good' } = attempt;
  let outcome = 'nothing';
  const blob = Buffer.from(key.publicKey.blob);
  const signatures = {
    good: () => sign(null, message, key.signer),
    bad: () => sign(null, Buffer.from('something else'), key.signer),
    none: () => undefined,
  };
  const context = {
    method,
    username,
    key: { algo: key.publicKey.type, data: blob },
    blob: signature === 'none' ? undefined : message,
    signature: signatures[signature](),
    accept: () => void (outcome = 'accepted'),
    reject: (methods: string[], isPartial = false) =>
      void (outcome = `${isPartial ? 'more' : 'rejected'}: ${methods.join(' ')}`),
  };
  const usual: LoginRules = { login: 'key', user: 'Administrator', authorizedKeys: [lineOf(known)] };
  decideLogin(context as unknown as AuthContext, { ...usual, ...rules });
  return outcome;
}

const byKey = 'rejected: publickey password keyboard-interactive';
const attempts: [string, Attempt, string][] = [
  ['a key that is known, with proof', {}, 'accepted'],
  ['the question whether a known key would do', { signature: 'none' }, 'accepted'],
  ['the question about an unknown key', { signature: 'none', key: other }, byKey],
  ['an unknown key, with proof', { key: other }, byKey],
  ['a known key with the proof of something else', { signature: 'bad' }, byKey],
  ['a user that there is not', { username: 'root' }, byKey],
  ['the user in other letters', { username: 'administrator' }, 'accepted'],
  ['a password', { method: 'password' }, byKey],
  ['nothing at all', { method: 'none' }, byKey],
  ['questions and answers', { method: 'keyboard-interactive' }, byKey],
];
for (const [name, attempt, want] of attempts) {
  test(`answers ${name} with ${want}`, () => expect(outcomeOf(attempt)).toBe(want));
}

const logins: [Traits['login'], Attempt, string][] = [
  ['password', {}, 'rejected: password keyboard-interactive'],
  ['password', { method: 'password' }, 'rejected: password keyboard-interactive'],
  ['key and password', {}, 'more: password'],
  ['key and password', { signature: 'none' }, 'accepted'],
  ['key and password', { key: other }, 'rejected: publickey'],
  ['key and password', { method: 'password' }, 'rejected: publickey'],
];
for (const [login, attempt, want] of logins) {
  test(`login by ${login} answers ${JSON.stringify(attempt.method ?? 'a key')} with ${want}`, () => {
    expect(outcomeOf(attempt, { login })).toBe(want);
  });
}

test('without authorized keys every login is rejected', () => {
  expect(outcomeOf({}, { authorizedKeys: [] })).toBe(byKey);
});

test('any of several keys is accepted', () => {
  expect(outcomeOf({ key: other }, { authorizedKeys: [lineOf(known), lineOf(other)] })).toBe('accepted');
});
