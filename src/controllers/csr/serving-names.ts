import { normalHostName } from '#base/dns-name.ts';
import { shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIp } from '#base/ipv4.ts';
import type { CertificateRequest } from '#contract/csr-request.ts';
import { reservedProblem } from '#contract/reserved.ts';
import type { Case } from './case.ts';

/** Names that no serving certificate of a node may have, whatever is recorded. */
export function brokenServingNames({ request, reserved, taken }: Case): string | undefined {
  if (alternativeNames(request).length === 0) return 'it has no alternative names';
  const others = [...request.emailAddresses, ...request.uris];
  if (others.length + request.otherNames > 0)
    return `only DNS names and IP addresses are allowed as alternative names, not ${shown(others)}`;
  const asked = [...request.dnsNames, ...request.ipAddresses];
  for (const name of asked) {
    const problem = reservedProblem(name, reserved);
    if (problem !== undefined) return `${shown(name)} ${problem}`;
    const holder = ownMember(taken, name);
    if (holder !== undefined) return `${shown(name)} belongs to ${holder}`;
  }
  return undefined;
}

/** Requested names that are not in the evidence. */
export function unknownServingNames({ request, instance, nodeName }: Case): string | undefined {
  const recorded = [nodeName, ...(instance?.addresses ?? []), ...(instance?.servingNames ?? [])];
  // A node name counts as a DNS name even if it looks like an address.
  const ips = new Set(recorded.slice(1).filter(isIp).map(normalHostName));
  const names = new Set(recorded.filter(text => !isIp(text)).map(normalHostName));
  const unknown = [
    ...request.dnsNames.filter(name => !names.has(normalHostName(name))),
    ...request.ipAddresses.filter(address => !ips.has(address)),
  ];
  if (unknown.length === 0) return undefined;
  return `these names are not recorded for the host: ${shown(unknown)} (recorded: ${shown(recorded)})`;
}

/** All requested names, of every kind. */
export function alternativeNames(request: CertificateRequest): string[] {
  const unknown = Array.from({ length: request.otherNames }, () => '(of another kind)');
  return [...request.dnsNames, ...request.ipAddresses, ...request.emailAddresses, ...request.uris, ...unknown];
}
