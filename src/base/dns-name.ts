import { isIpv4 } from './ipv4.ts';

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** RFC 1123 subdomain in lower case, as Kubernetes requires for Node names. */
export function isNodeName(text: string): boolean {
  return text.length <= 253 && text.split('.').every(part => label.test(part));
}

/** A host name in any case, with an optional trailing dot. */
export function isHostName(text: string): boolean {
  return isNodeName(normalHostName(text));
}

/** Lower case without the trailing dot. Only ASCII letters are changed: the Kelvin sign is not a k. */
export function normalHostName(text: string): string {
  // Most names are normal already, and hundreds of thousands are compared while many hosts join.
  if (!/[A-Z]|\.$/.test(text)) return text;
  return text.replaceAll(/[A-Z]+/g, capitals => capitals.toLowerCase()).replace(/\.$/, '');
}

/** True when the names are equal, or one is the first label of the other. */
export function sameHost(one: string, other: string): boolean {
  const [a, b] = [normalHostName(one), normalHostName(other)];
  if (a === '' || b === '') return false;
  // The first octet of an address is not a host name.
  if (a === b || isIpv4(a) || isIpv4(b)) return a === b;
  return (!a.includes('.') && a === firstLabel(b)) || (!b.includes('.') && b === firstLabel(a));
}

function firstLabel(name: string): string {
  return name.slice(0, name.indexOf('.') === -1 ? undefined : name.indexOf('.'));
}
