import type { IdentityFactory } from '../ports.ts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';
import { createAuthorizer } from './authorizer.ts';
import { createImpersonation } from './impersonation.ts';
import { restrictNode } from './node/restriction.ts';
import { refuseEscalation } from './rbac/escalation.ts';
import { guardSigners } from './signer-admission.ts';
import { createTokenIssuer } from './token-requests.ts';

/** Authentication and authorization as in a cluster with the Node and RBAC authorizers. */
export function createIdentity(options: Omit<AuthenticatorOptions, 'api'>): IdentityFactory {
  return api => {
    const authorizer = createAuthorizer(api);
    return {
      authenticator: createAuthenticator({ ...options, api }),
      impersonation: createImpersonation(authorizer),
      authorizer,
      admission: {
        admit(request) {
          refuseEscalation(request, api, authorizer);
          restrictNode(request, api);
          guardSigners(request, authorizer);
        },
      },
      tokenIssuer: createTokenIssuer(options.signer, api),
    };
  };
}
