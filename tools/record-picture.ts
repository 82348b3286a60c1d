import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOnTerminal } from '../test/kit/wmco-process.ts';
import { pictureOf } from './screen-picture.ts';
import { type Run, screenOf, textOf } from './terminal-screen.ts';

const size = { columns: 100, rows: 24 } as const;
const words = ['sandbox', '--hosts', '4', '--faults', 'wrong-key@win-3'] as const;
const root = join(import.meta.dirname, '..');

/** Runs the sandbox on a terminal, and returns the frame that shows most. */
async function recordSandbox(): Promise<Run[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'wmco-picture-'));
  try {
    mkdirSync(join(folder, 'bin'));
    // The hints then name the command as it is typed.
    symlinkSync(join(root, 'wmco'), join(folder, 'bin', 'wmco'));
    const environment = { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C.UTF-8' };
    await using sandbox = startOnTerminal(words, { environment, ...size });
    await sandbox.until('Running until Ctrl-C');
    const output = sandbox.out();
    sandbox.type('\u0003');
    await sandbox.ended();
    return tellingFrame(framesOf(output));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each frame ends with the escape that clears the rest of the screen. */
export function framesOf(output: string): Run[][][] {
  const clear = '\u001b[J';
  const pieces = output.split(clear);
  return pieces.slice(1).map((_, at) => screenOf(`${pieces.slice(0, at + 1).join(clear)}${clear}`, size));
}

/** The last of those in which hosts are at the most different steps. */
export function tellingFrame(frames: readonly Run[][][]): Run[][] {
  const ranked = frames.toSorted((one, other) => stepsIn(one) - stepsIn(other));
  const frame = ranked.at(-1);
  if (frame === undefined) throw new Error('the sandbox has shown no table');
  return frame;
}

function stepsIn(frame: readonly Run[][]): number {
  const lines = frame.map(textOf);
  const head = lines.find(line => line.startsWith('HOST')) ?? '';
  const [from, to] = [head.indexOf('PHASE'), head.indexOf('TIME')];
  const hosts = lines.filter(isHost);
  return new Set(hosts.map(line => line.slice(from, to).trim())).size;
}

/** A row of the table; the problems below it begin with the host and a colon. */
const isHost = (line: string): boolean => /^win[\w-]* /.test(line);

export function sandboxPicture(frame: readonly Run[][]): string {
  const isTable = (runs: readonly Run[]) => /^(HOST|\d+ hosts)/.test(textOf(runs)) || isHost(textOf(runs));
  const command = ['wmco', ...words].join(' ');
  const hosts = frame.map(textOf).filter(isHost);
  return pictureOf({
    title: command,
    description: `Output of ${command}: a table of ${hosts.length} Windows hosts with the step of each.`,
    columns: size.columns,
    lines: frame.filter(isTable),
  });
}

if (import.meta.main) writeFileSync(join(root, 'docs', 'sandbox.svg'), sandboxPicture(await recordSandbox()));
