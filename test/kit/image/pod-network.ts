import { spawn } from 'node:child_process';
import { createServer, connect, type NetConnectOpts, type ListenOptions } from 'node:net';
import { once } from 'node:events';

/** The network of a pod, and the command that runs in it. */
export interface PodNetwork {
  /** Each connection to the first is passed on to the second. */
  relays: readonly { listen: ListenOptions; to: NetConnectOpts }[];
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Printed right before the command starts. */
  startLine: string;
}

/**
 * Started in the network namespace of a pod, where nothing can be reached but by these relays; sockets of files lead out of
 * it. Ends with the exit code of the command, which gets SIGTERM when the input of this process ends.
 */
const { relays, command, environment, startLine } = JSON.parse(process.argv[2] ?? '') as PodNetwork;
for (const { listen, to } of relays) {
  const server = createServer({ allowHalfOpen: true }, near => {
    const far = connect({ ...to, allowHalfOpen: true });
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  server.listen(listen);
  await once(server, 'listening');
}
const [program = '', ...words] = command;
console.error(startLine);
const child = spawn(program, words, { env: environment, stdio: ['ignore', 'inherit', 'inherit'] });
child.once('error', error => {
  console.error(error);
  process.exit(127);
});
child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGKILL' ? 137 : 128)));
process.stdin.on('end', () => child.kill('SIGTERM')).resume();
