import type { UserInfo } from '../../ports.ts';

const prefix = 'system:node:';

/** The node a kubelet speaks for; undefined for everybody else. Empty when a member of the group names no node. */
export function nodeNameOf({ username, groups }: UserInfo): string | undefined {
  return username.startsWith(prefix) && groups.includes('system:nodes') ? username.slice(prefix.length) : undefined;
}
