import type { Clock } from '#base/clock.ts';
import type { PublicKey } from '#host/keys/public-key.ts';
import type { Times } from '../times.ts';
import type { Traits } from '../traits.ts';
import type { ContentStore } from './content-store.ts';

export interface HostSpec {
  /** What the sandbox calls it, and its host name unless its traits say otherwise. */
  name: string;
  address: string;
  dnsSuffix: string;
  /** Who may log in. */
  user: string;
  authorizedKeys: readonly PublicKey[];
  traits: Traits;
  times: Times;
}

/** What all hosts of a sandbox share. */
export interface HostDeps {
  store: ContentStore;
  clock: Clock;
  /** For the delays of simulation. */
  delays: Clock;
  /** Of an agent whose file does not tell. */
  agentVersion: string;
  /** Told whenever a host comes, goes, or is reached in another way. */
  onChange(): void;
}

/** What a host has seen of whoever works on it. */
export interface HostStats {
  connections: number;
  execSessions: number;
  sftpSessions: number;
  /** Files that came whole. */
  uploads: number;
  /** Those files, in the order in which they came, by the names they were given in the end. */
  received: { path: string; bytes: number }[];
  uploadedBytes: number;
  reboots: number;
  /** Verbs of the agent, in the order in which they were run. */
  verbs: string[];
  /** Paths of programs that were run over SSH, in order. */
  programs: string[];
}
