import { hash } from 'node:crypto';

/** Lower-case hex SHA-256, the form of `sha256sum` and of our annotations. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}
