import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { compileCache, repositoryRoot } from './run-wmco.ts';

/** The command line in its own process. */
export interface WmcoProcess extends AsyncDisposable {
  readonly pid: number;
  out(): string;
  err(): string;
  /** Waits until its output has what is looked for. */
  until(text: string | RegExp, limitMs?: number): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Its exit code, or the signal that has ended it; rejects when it does not end. */
  ended(limitMs?: number): Promise<number | string>;
}

export interface WmcoOptions {
  /** Added to a small environment without variables of the user who runs the test. */
  environment?: Record<string, string>;
  folder?: string;
}

const program = join(repositoryRoot, 'src', 'bin', 'wmco.ts');

export function startWmco(words: readonly string[], options: WmcoOptions = {}): WmcoProcess {
  const { environment = {}, folder = repositoryRoot } = options;
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', ...compileCache, ...environment };
  const child = spawn(process.execPath, [program, ...words], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  return processOf(child);
}

/** The same with a terminal of the size given: `script` makes one, and what is written to it is what was typed. */
export function startOnTerminal(
  words: readonly string[],
  { environment = {}, columns, rows }: WmcoOptions & { columns: number; rows: number },
): WmcoProcess & { type(text: string): void } {
  const line = [process.execPath, program, ...words].map(word => `'${word}'`).join(' ');
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    TERM: 'xterm',
    SHELL: '/bin/sh',
    ...compileCache,
    ...environment,
  };
  const command = `stty cols ${columns} rows ${rows}; exec ${line}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], { env, cwd: repositoryRoot, stdio: 'pipe' });
  return { ...processOf(child), type: text => void child.stdin.write(text) };
}

function processOf(child: ChildProcess): WmcoProcess {
  const output = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.err += text));
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  let isClosed = false;
  void closed.then(() => (isClosed = true));
  const fail = (what: string) => new Error(`${what}\n--- out\n${output.out}\n--- err\n${output.err}`);
  return {
    pid: child.pid ?? 0,
    out: () => output.out,
    err: () => output.err,
    async until(text, limitMs = 100_000) {
      const endMs = performance.now() + limitMs;
      const isThere = () => (typeof text === 'string' ? output.out.includes(text) : text.test(output.out));
      while (!isThere()) {
        if (isClosed) throw fail(`it ended before it printed ${String(text)}`);
        if (performance.now() > endMs) throw fail(`it did not print ${String(text)} in time`);
        await delay(50);
      }
    },
    signal: name => void child.kill(name),
    async ended(limitMs = 100_000) {
      const late = new AbortController();
      const limit = delay(limitMs, undefined, { signal: late.signal }).then(() => {
        throw fail('it did not end in time');
      });
      try {
        const [code, signal] = await Promise.race([closed, limit]);
        return code ?? signal ?? 'unknown';
      } finally {
        late.abort();
        limit.catch(() => undefined);
      }
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      child.kill('SIGKILL');
      await closed;
    },
  };
}
