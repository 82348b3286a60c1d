import { isIPv4, isIPv6 } from 'node:net';

/** The 4 or 16 bytes of an IP address; undefined if it is invalid. */
export function ipOctets(text: string): number[] | undefined {
  if (isIPv4(text)) return text.split('.').map(Number);
  // A zone such as %eth0 is local to one host.
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
