import type { UserInfo } from '../../ports.ts';

const prefix = 'system:node:';

/** The node name of a kubelet; undefined for other users, empty if the user name has no node. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(prefix) && groups.includes('system:nodes') ? username.slice(prefix.length) : undefined;
}
