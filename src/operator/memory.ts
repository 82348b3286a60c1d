import { setFlagsFromString } from 'node:v8';

/** V8 flags, to be set before other modules are loaded. Their effect is in docs/performance.md. */
const leanFlags = [
  // Keeps the young generation at its current size. By default it grows to 64 MB.
  '--semi-space-growth-factor=1',
  // Collects garbage when the heap has grown by half, not by several times.
  '--heap-growing-percent=50',
  // An idle operator takes 6 MB less; single stalls may be longer.
  '--optimize-for-size',
];

/** Makes V8 prefer low memory use over speed, because the operator mostly waits. */
export function limitMemory(): void {
  for (const flag of leanFlags) setFlagsFromString(flag);
}
