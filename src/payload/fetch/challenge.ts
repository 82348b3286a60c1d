/** How a registry wants requests to be authorized. */
export type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service: string | undefined };

const maxLength = 8192;

/** Reads a WWW-Authenticate header; of several schemes Bearer, as registries that offer both expect it. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined || header.length > maxLength) return undefined;
  const bearer = /(?:^|[\s,])bearer\s/i.exec(header);
  if (bearer === null) return /(?:^|[\s,])basic(?:[\s,]|$)/i.test(header) ? { scheme: 'basic' } : undefined;
  const rest = header.slice(bearer.index + bearer[0].length);
  const [realm, service] = [parameter(rest, 'realm'), parameter(rest, 'service')];
  return realm === undefined ? undefined : { scheme: 'bearer', realm, service };
}

function parameter(text: string, name: string): string | undefined {
  return new RegExp(String.raw`(?:^|[\s,])${name}="([^"]*)"`, 'i').exec(text)?.[1];
}
