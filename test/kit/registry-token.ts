import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import type { TestCa } from './certificates.ts';
import { json, startServer, type TestServer } from './tls-server.ts';

export const tokenService = { service: 'registry.test', issuer: 'logins.test' } as const;

/** Hands out tokens for pulling to whoever has the login, as the services of large registries do. */
export function startTokenService(ca: TestCa, login: string): Promise<TestServer> {
  const { cert, key } = ca.issue({ commonName: 'tokens' });
  return startServer(
    ({ path, headers }, answer) => {
      const { searchParams } = new URL(path, 'https://x');
      const [, repository = ''] = /^repository:(.*):pull$/.exec(searchParams.get('scope') ?? '') ?? [];
      const isKnown =
        headers['authorization'] === `Basic ${login}` && searchParams.get('service') === tokenService.service;
      if (!isKnown) return json(answer, 401, { errors: [] });
      const claims = {
        iss: tokenService.issuer,
        aud: tokenService.service,
        sub: 'test',
        jti: '1',
        exp: Math.floor(Date.now() / 1000) + 300,
        nbf: Math.floor(Date.now() / 1000) - 60,
        access: [{ type: 'repository', name: repository, actions: ['pull'] }],
      };
      const header = { typ: 'JWT', alg: 'ES256', x5c: [new X509Certificate(cert).raw.toString('base64')] };
      const signed = [header, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
      const signature = sign('sha256', Buffer.from(signed), { key: createPrivateKey(key), dsaEncoding: 'ieee-p1363' });
      return json(answer, 200, { token: `${signed}.${signature.toString('base64url')}` });
    },
    { protocol: 'http/1.1', ca },
  );
}
