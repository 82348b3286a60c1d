import { writeFileSync } from 'node:fs';
import { findBinaries } from './cluster/binaries.ts';
import { makeParts } from './winhost/parts.ts';

/**
 * `npm run test:programs -- FILE`: finds or makes the programs that the parts `cluster` and `windows` start, and writes to FILE, per
 * part, why that is not possible on this machine, or null.
 */
/** Built at most once, also when that fails. */
let binaries: Promise<unknown> | undefined;
const findOnce = () => (binaries ??= findBinaries());
const makers: Record<string, () => Promise<unknown>> = {
  cluster: async () => {
    if (process.getuid?.() !== 0) throw new Error('needs root: its OpenSSH servers change users and mount folders');
    await findOnce();
  },
  windows: async () => {
    await makeParts();
    await findOnce();
  },
};
const answers = new Map<string, string | null>();
for (const [part, make] of Object.entries(makers)) {
  const reason = await make().then(
    () => null,
    (error: Error) => error.message.replaceAll('\n', ' '),
  );
  answers.set(part, reason);
  console.log(reason === null ? `programs of ${part}: ready` : `programs of ${part}: ${reason}`);
}
const [, , file] = process.argv;
if (file !== undefined) writeFileSync(file, JSON.stringify(Object.fromEntries(answers)));
