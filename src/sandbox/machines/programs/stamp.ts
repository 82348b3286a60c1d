/** First line of a program file in the sandbox, with name and version. */
const stamp = /^MZ wmco-sandbox (\S+) (\S+)\n/;

export function stampOf(name: string, version: string): string {
  return `MZ wmco-sandbox ${name} ${version}\n`;
}

/** Longer than any stamp. */
export const stampBytes = 256;

/** Name in the stamp of an agent of the Go operator. */
export const goAgentStamp = 'go-agent';

/** Undefined for files without a stamp. */
export function stampedVersion(head: Uint8Array): string | undefined {
  return readStamp(head)?.[2];
}

export function isGoAgent(head: Uint8Array): boolean {
  return readStamp(head)?.[1] === goAgentStamp;
}

function readStamp(head: Uint8Array): RegExpExecArray | null {
  return stamp.exec(Buffer.from(head.subarray(0, stampBytes)).toString('latin1'));
}
