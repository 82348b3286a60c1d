import type { Clock } from '#base/clock.ts';
import type { PublicKey } from '#host/keys/public-key.ts';
import type { Times } from '../times.ts';
import type { Traits } from '../traits.ts';
import type { ContentStore } from './content-store.ts';

export interface HostSpec {
  /** Name in the sandbox and default host name. */
  name: string;
  address: string;
  dnsSuffix: string;
  user: string;
  /** At the first start; later the file on the disk counts. */
  authorizedKeys: readonly PublicKey[];
  traits: Traits;
  times: Times;
}

/** Shared by all hosts of a sandbox. */
export interface HostDeps {
  store: ContentStore;
  clock: Clock;
  /** Clock of simulated delays. */
  delays: Clock;
  /** Version of agents whose file has no stamp. */
  agentVersion: string;
  /** Called when a host is added, removed or reached in another way. */
  onChange(): void;
}

/** What was done on a host, for tests. */
export interface HostStats {
  connections: number;
  execSessions: number;
  sftpSessions: number;
  /** Completed uploads. */
  uploads: number;
  /** Uploaded files in order, under their final names. */
  received: { path: string; bytes: number }[];
  uploadedBytes: number;
  reboots: number;
  /** Agent verbs in order. */
  verbs: string[];
  /** Programs run over SSH, in order. */
  programs: string[];
}

export function noStats(): HostStats {
  return {
    connections: 0,
    execSessions: 0,
    sftpSessions: 0,
    uploads: 0,
    received: [],
    uploadedBytes: 0,
    reboots: 0,
    verbs: [],
    programs: [],
  };
}

export function recordUpload(stats: HostStats, path: string, bytes: number): void {
  stats.uploads += 1;
  stats.received.push({ path, bytes });
}

export function recordRename(stats: HostStats, from: string, to: string): void {
  const received = stats.received.findLast(({ path }) => path === from);
  if (received !== undefined) received.path = to;
}
