import { isIPv4, isIPv6 } from 'node:net';

/** The octets of an address as a certificate holds it: 4 or 16 of them; undefined when the text is no address. */
export function ipOctets(text: string): number[] | undefined {
  if (isIPv4(text)) return text.split('.').map(Number);
  // A zone such as %eth0 means something on one host only.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [head = '', tail] = text.split('::');
  const before = groupOctets(head);
  if (tail === undefined) return before;
  const after = groupOctets(tail);
  return [...before, ...Array.from({ length: 16 - before.length - after.length }, () => 0), ...after];
}

function groupOctets(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap(group => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
