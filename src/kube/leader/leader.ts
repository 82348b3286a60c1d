/** What the work of a leader tells others about its leadership, and asks before it writes what a later leader may have written. */
export interface Leader {
  /** `<UID of the Lease>.<transitions>`, also after the leadership was lost; undefined without an election. */
  term(): string | undefined;
  /** Reads the Lease; false when another process leads, or nobody knows. */
  isCurrent(signal: AbortSignal): Promise<boolean>;
}

/** For a process without an election. */
export const onlyLeader: Leader = { term: () => undefined, isCurrent: async () => true };
