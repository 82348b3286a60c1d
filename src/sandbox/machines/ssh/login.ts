import ssh2, { type AuthContext, type AuthenticationType } from 'ssh2';
import { admits, type KeyLine } from '#contract/authorized-keys.ts';
import type { Traits } from '../traits.ts';

export interface LoginRules {
  login: Traits['login'];
  user: string;
  /** Lines of administrators_authorized_keys with a key. */
  authorizedKeys: readonly KeyLine[];
}

const methods: Readonly<Record<Traits['login'], AuthenticationType[]>> = {
  key: ['publickey', 'password', 'keyboard-interactive'],
  password: ['password', 'keyboard-interactive'],
  'key and password': ['publickey'],
};

/** Accepts authorized keys; never a password. */
export function decideLogin(context: AuthContext, { login, user, authorizedKeys }: LoginRules): void {
  const offered = methods[login];
  if (context.method !== 'publickey' || !offered.includes('publickey')) return context.reject(offered);
  const { key, blob, signature, hashAlgo } = context;
  const isUser = context.username.toLowerCase() === user.toLowerCase();
  const isKnown = admits(authorizedKeys, key.data);
  if (!isUser || !isKnown) return context.reject(offered);
  // Clients first ask whether a key is acceptable, without a signature.
  if (signature === undefined || blob === undefined) return context.accept();
  const parsed = ssh2.utils.parseKey(key.data);
  const isProven = !(parsed instanceof Error) && parsed.verify(blob, signature, hashAlgo);
  if (!isProven) return context.reject(offered);
  return login === 'key and password' ? context.reject(['password'], true) : context.accept();
}
