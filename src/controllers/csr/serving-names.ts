import { normalHostName } from '#base/dns-name.ts';
import { shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIp } from '#base/ipv4.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { reservedProblem } from '#contract/reserved.ts';
import type { Case } from './rules.ts';

/** What no server of a node may be named, whatever is recorded. */
export function brokenServingNames({ request, reserved, taken }: Case): string | undefined {
  if (alternativeNames(request).length === 0) return 'it names no server: there are no alternative names';
  const strange = [...request.emailAddresses, ...request.uris];
  if (strange.length + request.otherNames > 0)
    return `only DNS names and IP addresses may name a server, not ${shown(strange)}`;
  const asked = [...request.dnsNames, ...request.ipAddresses];
  for (const name of asked) {
    const problem = reservedProblem(name, reserved);
    if (problem !== undefined) return `${shown(name)} ${problem}`;
    const holder = ownMember(taken, name);
    if (holder !== undefined) return `${shown(name)} belongs to ${holder}`;
  }
  return undefined;
}

/** Names asked for that no evidence has. */
export function unknownServingNames({ request, instance, nodeName }: Case): string | undefined {
  const recorded = [nodeName, ...(instance?.addresses ?? []), ...(instance?.servingNames ?? [])];
  // A node name is a name, whatever it looks like.
  const ips = new Set(recorded.slice(1).filter(isIp).map(normalHostName));
  const names = new Set(recorded.filter(text => !isIp(text)).map(normalHostName));
  const unknown = [
    ...request.dnsNames.filter(name => !names.has(normalHostName(name))),
    ...request.ipAddresses.filter(address => !ips.has(address)),
  ];
  if (unknown.length === 0) return undefined;
  return `these names are not recorded for the host: ${shown(unknown)} (recorded: ${shown(recorded)})`;
}

/** All names of all kinds that a request asks for. */
export function alternativeNames(request: CertificateRequest): string[] {
  const unknown = Array.from({ length: request.otherNames }, () => '(of another kind)');
  return [...request.dnsNames, ...request.ipAddresses, ...request.emailAddresses, ...request.uris, ...unknown];
}
