/** How a registry wants requests to be authorized. */
export type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service: string | undefined };

const maxLength = 8192;

/** Reads a WWW-Authenticate header; of several schemes Bearer, as registries that offer both expect it. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined || header.length > maxLength) return undefined;
  const bearer = /(?:^|[\s,])bearer\s/i.exec(header);
  if (bearer === null) return /(?:^|[\s,])basic(?:[\s,]|$)/i.test(header) ? { scheme: 'basic' } : undefined;
  const rest = header.slice(bearer.index + bearer[0].length);
  const parameters = new Map(
    [...rest.matchAll(/(?:^|[\s,])(realm|service)="([^"]{0,2000})"/gi)].map(([, name = '', value = '']) => [
      name.toLowerCase(),
      value,
    ]),
  );
  const [realm, service] = [parameters.get('realm'), parameters.get('service')];
  return realm === undefined ? undefined : { scheme: 'bearer', realm, service };
}
