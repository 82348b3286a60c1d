import { hash } from 'node:crypto';

/** Lower-case hex, as `sha256sum` prints it. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
