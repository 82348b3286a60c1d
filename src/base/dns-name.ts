import { isIpv4 } from './ipv4.ts';

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** RFC 1123 subdomain in lower case: what Kubernetes accepts as the name of a Node. */
export function isNodeName(text: string): boolean {
  return text.length <= 253 && text.split('.').every(part => label.test(part));
}

/** A host name as people write it: any case, an optional trailing dot. */
export function isHostName(text: string): boolean {
  return isNodeName(normalHostName(text));
}

/** The form in which two spellings of one host name are equal. Only ASCII has case here: the Kelvin sign is not a k. */
export function normalHostName(text: string): string {
  // Most are normal already, and hundreds of thousands are compared while many hosts join.
  if (!/[A-Z]|\.$/.test(text)) return text;
  return text.replaceAll(/[A-Z]+/g, capitals => capitals.toLowerCase()).replace(/\.$/, '');
}

/** True when both names are the same host: equal in full, or one is the first label of the other. Never by substring. */
export function sameHost(one: string, other: string): boolean {
  const [a, b] = [normalHostName(one), normalHostName(other)];
  if (a === '' || b === '') return false;
  // The first number of an address is not the short name of a host.
  if (a === b || isIpv4(a) || isIpv4(b)) return a === b;
  return (!a.includes('.') && a === firstLabel(b)) || (!b.includes('.') && b === firstLabel(a));
}

function firstLabel(name: string): string {
  return name.slice(0, name.indexOf('.') === -1 ? undefined : name.indexOf('.'));
}
