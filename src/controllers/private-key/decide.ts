import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';

export interface KeyUse {
  /** Not set while the host was never reached by an operator that records it. */
  key: WindowsInstanceStatus['key'];
  /** A host key is recorded: it was reached. */
  wasReached: boolean;
  /** Hash of the key that the host should accept; undefined while it is not known. */
  wanted: string | undefined;
}

/**
 * Which stored keys are still needed, by hash. As long as one host does not accept its current key, all are: it may have been given any
 * of them meanwhile.
 */
export function neededKeys(current: string | undefined, uses: readonly KeyUse[]): 'all' | ReadonlySet<string> {
  if (current === undefined || uses.some(isUnsettled)) return 'all';
  return new Set([current, ...uses.flatMap(({ key }) => (key === undefined ? [] : [key.hash, ...(key.former ?? [])]))]);
}

function isUnsettled({ key, wasReached, wanted }: KeyUse): boolean {
  if (key === undefined) return wasReached;
  return key.pending !== undefined || (wanted !== undefined && key.hash !== wanted);
}
