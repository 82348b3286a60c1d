/** How the content of a program made for the sandbox begins: it says what it plays. */
const stamp = /^MZ wmco-sandbox (\S+) (\S+)\n/;

/** The beginning of a file that a simulated host takes for the program of that name and version. */
export function stampOf(name: string, version: string): string {
  return `MZ wmco-sandbox ${name} ${version}\n`;
}

/** Enough to hold a stamp. */
export const stampBytes = 256;

/** The version that the beginning of a program tells; undefined for any other content. */
export function stampedVersion(head: Uint8Array): string | undefined {
  return stamp.exec(Buffer.from(head.subarray(0, stampBytes)).toString('latin1'))?.[2];
}
