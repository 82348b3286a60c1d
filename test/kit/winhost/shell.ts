import { createInterface } from 'node:readline/promises';
import { WindowsLab } from './lab.ts';

/** `node test/kit/winhost/shell.ts [NUMBER]`: starts hosts to log in to, until Enter is pressed. Needs root. */
const count = Number(process.argv[2] ?? 1);
if (!Number.isInteger(count) || count < 1) throw new Error(`${process.argv[2]} is not a number of hosts`);

await using lab = await WindowsLab.start();
for (const host of await Promise.all(Array.from({ length: count }, () => lab.createHost()))) {
  console.log(`${host.name} ${host.address}\n  ${host.sshLine}\n  drive C: ${host.drive.root}`);
}
const terminal = createInterface({ input: process.stdin, output: process.stdout });
await terminal.question('Enter ends it. ');
terminal.close();
