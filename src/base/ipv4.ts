/** The 32 bits of an IPv4 address in dotted form; undefined when invalid (no leading zeros, no short forms). */
export function parseIpv4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  let bits = 0;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bits = bits * 256 + Number(part);
  }
  return bits;
}

export function isIpv4(text: string): boolean {
  return parseIpv4(text) !== undefined;
}

/** Distinguishes an IPv6 address, with or without a zone, from a name: only IPv6 has two colons or more. */
export function isIpv6(text: string): boolean {
  return text.indexOf(':') !== text.lastIndexOf(':') && /^[0-9a-fA-F:.]+(%.*)?$/.test(text);
}

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

export function printIpv4(bits: number): string {
  return [24, 16, 8, 0].map(shift => (bits >>> shift) & 255).join('.');
}

export interface Ipv4Network {
  /** Address of the network with all host bits cleared. */
  base: number;
  prefixLength: number;
  /** Number of addresses. */
  size: number;
}

export function parseIpv4Cidr(text: string): Ipv4Network | undefined {
  const [address = '', length = '', ...rest] = text.split('/');
  const bits = parseIpv4(address);
  if (bits === undefined || rest.length > 0 || !/^(\d|[12]\d|3[0-2])$/.test(length)) return undefined;
  const size = 2 ** (32 - Number(length));
  return { base: bits - (bits % size), prefixLength: Number(length), size };
}
