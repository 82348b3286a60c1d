import { parseGoDuration } from '#base/go-duration.ts';
import { isServerAtLeast } from './server-version.ts';

/** API servers take no request for less. What is issued may live shorter all the same: the signer decides. */
const minSeconds = 600;

/** The `expirationSeconds` by which a certificate of this lifetime is requested. */
export function certificateSeconds(durationMs: number): number {
  return Math.max(minSeconds, Math.floor(durationMs / 1000));
}

/** For how long agents may request certificates for themselves and for cloud-node-manager. */
export interface LifetimeLimit {
  maxSeconds: number;
  /** Whether the API server keeps what a request says about it. */
  isKept: boolean;
}

/** By the setting, a Go duration, which is what agents are told as well. Servers before 1.22 drop `expirationSeconds`. */
export function lifetimeLimit(setting: string, serverVersion: string): LifetimeLimit {
  return {
    maxSeconds: certificateSeconds(parseGoDuration(setting) ?? 0),
    isKept: isServerAtLeast(serverVersion, 22),
  };
}
