import { randomUUID } from 'node:crypto';
import { timestamp } from '#base/clock.ts';
import type { Clock } from '#base/clock.ts';
import type { StoredObject, TokenIssuer, TokenRequest } from '../ports.ts';
import { type Claims, type JwtKey, signJwt, verifyJwt } from './jwt.ts';
import { serviceAccountUsername } from './service-account-user.ts';

export const legacyIssuer = 'kubernetes/serviceaccount';

export interface TokenSignerOptions {
  key: JwtKey;
  /** Issuer of bound tokens. */
  issuer: string;
  /** Default audiences. */
  audiences: readonly string[];
  clock: Clock;
  /** Whether tokens have an ID, as since Kubernetes 1.30. */
  givesIds?: boolean;
}

/** Signs and verifies tokens of ServiceAccounts, bound ones and those of Secrets. */
export class TokenSigner {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly #key: JwtKey;
  readonly #clock: Clock;
  readonly #givesIds: boolean;

  constructor({ key, issuer, audiences, clock, givesIds = false }: TokenSignerOptions) {
    this.issuer = issuer;
    this.audiences = audiences;
    this.#key = key;
    this.#clock = clock;
    this.#givesIds = givesIds;
  }

  issue(request: TokenRequest): ReturnType<TokenIssuer['issue']> {
    const audiences = request.audiences.length === 0 ? this.audiences : request.audiences;
    const now = Math.floor(this.#clock.now() / 1000);
    const expires = now + request.expirationSeconds;
    const token = signJwt(
      { ...this.#boundClaims(request), aud: audiences, iat: now, nbf: now, exp: expires },
      this.#key,
    );
    return { token, expirationTimestamp: timestamp(expires * 1000), audiences };
  }

  /** Does not expire; valid as long as its Secret and account exist. */
  issueLegacy(account: StoredObject, secretName: string): string {
    const { namespace = '', name = '', uid = '' } = account.metadata;
    return signJwt(
      {
        iss: legacyIssuer,
        'kubernetes.io/serviceaccount/namespace': namespace,
        'kubernetes.io/serviceaccount/secret.name': secretName,
        'kubernetes.io/serviceaccount/service-account.name': name,
        'kubernetes.io/serviceaccount/service-account.uid': uid,
        sub: serviceAccountUsername({ namespace, name }),
      },
      this.#key,
    );
  }

  /** Claims of a token that this signer issued, even if it has expired. */
  read(token: string): Claims | undefined {
    return verifyJwt(token, this.#key);
  }

  #boundClaims({ serviceAccount, boundObject }: TokenRequest): Claims {
    const { namespace = '', name = '', uid = '' } = serviceAccount.metadata;
    const bound =
      boundObject === undefined
        ? {}
        : { [boundObject.kind.toLowerCase()]: { name: boundObject.name, uid: boundObject.uid } };
    return {
      iss: this.issuer,
      sub: serviceAccountUsername({ namespace, name }),
      ...(this.#givesIds && { jti: randomUUID() }),
      'kubernetes.io': { namespace, serviceaccount: { name, uid }, ...bound },
    };
  }
}
