import { setFlagsFromString } from 'node:v8';

/** Each a flag of V8, which must be set before there is work. What they cost is lost in the noise: see docs/performance.md. */
const leanFlags = [
  // The memory for new objects stays at the few megabytes with which a process begins. Left alone it becomes 64 MB in a busy
  // minute, and whatever hangs on dead objects, buffers of files that were sent long ago above all, waits until those are full.
  '--semi-space-growth-factor=1',
  // All memory is looked through when it has grown by half of what is in use, and not by several times as much.
  '--heap-growing-percent=50',
];

/** Has this process take no more memory than it needs, for it lives beside others and mostly waits. */
export function stayLean(): void {
  for (const flag of leanFlags) setFlagsFromString(flag);
}
