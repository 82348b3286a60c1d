import { spawn } from 'node:child_process';

export interface Outcome {
  /** 255 is also what ssh gives when the connection fails. Of codes above 255 only the lowest eight bits arrive. */
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  input?: string | Uint8Array;
  timeoutMs?: number;
}

/** Runs a program of this machine to its end; kills it when that takes too long. */
export function runToEnd(program: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { timeoutMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { stdio: 'pipe' });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${program} ${args.join(' ')} did not end within ${timeoutMs} ms`));
    }, timeoutMs);
    child.once('error', reject);
    child.once('close', code => {
      clearTimeout(timer);
      resolve({ code: code ?? -1, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
    });
  });
}

/** The same for a program that must succeed; gives what it printed. */
export async function run(program: string, args: readonly string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr.trim() || stdout.trim()}`);
  return stdout;
}
