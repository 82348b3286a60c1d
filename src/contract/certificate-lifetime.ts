import { parseGoDuration } from '#base/go-duration.ts';
import { isKubernetesAtLeast } from './kubernetes-version.ts';

/** API servers reject shorter requests. The signer may still issue a shorter lifetime. */
const minSeconds = 600;

/** `expirationSeconds` of a request for this lifetime. */
export function certificateSeconds(durationMs: number): number {
  return Math.max(minSeconds, Math.floor(durationMs / 1000));
}

/** Limit for certificates that agents request for themselves and for cloud-node-manager. */
export interface LifetimeLimit {
  maxSeconds: number;
  /** The API server stores `expirationSeconds`; servers before 1.22 drop it. */
  isKept: boolean;
}

/** `setting` is a Go duration, the same that agents get. */
export function lifetimeLimit(setting: string, serverVersion: string): LifetimeLimit {
  return {
    maxSeconds: certificateSeconds(parseGoDuration(setting) ?? 0),
    isKept: isKubernetesAtLeast(serverVersion, 22),
  };
}
