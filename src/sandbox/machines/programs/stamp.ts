/**
 * First line of a program file in the sandbox: name, version of the operator, the version that the program itself reports, and what is
 * wrong with it, if anything.
 */
const stamp = /^MZ wmco-sandbox (\S+) (\S+)(?: reports=(v\S+))?(?: (broken|breaks-after-\d{1,6}s))?\n/;

/** A program that fails at its start, or works only so many seconds after its first start. */
export type Defect = 'broken' | `breaks-after-${number}s`;

/** A program file by its stamp. */
export interface Stamped {
  name: string;
  version: string;
  /** Version of Kubernetes, of a kubelet that has another one than the payload of this operator. */
  reports?: string;
  defect?: Defect;
}

export function stampOf(name: string, version: string, about: Pick<Stamped, 'reports' | 'defect'> = {}): string {
  const { reports, defect } = about;
  const more = [...(reports === undefined ? [] : [`reports=${reports}`]), ...(defect === undefined ? [] : [defect])];
  return `MZ wmco-sandbox ${[name, version, ...more].join(' ')}\n`;
}

/** Longer than any stamp. */
export const stampBytes = 256;

/** Name in the stamp of an agent of the Go operator. */
export const goAgentStamp = 'go-agent';

/** Undefined for files without a stamp. */
export function readStamp(head: Uint8Array): Stamped | undefined {
  const found = stamp.exec(Buffer.from(head.subarray(0, stampBytes)).toString('latin1'));
  const [, name, version, reports, defect] = found ?? [];
  if (name === undefined || version === undefined) return undefined;
  return {
    name,
    version,
    ...(reports !== undefined && { reports }),
    ...(defect !== undefined && { defect: defect as Defect }),
  };
}

/** How long a program with this defect works. */
export function lifetimeMs(defect: Defect): number {
  return Number(/\d+/.exec(defect)?.[0] ?? 0) * 1000;
}
