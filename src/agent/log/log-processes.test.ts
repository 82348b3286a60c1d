import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const source = join(import.meta.dirname, 'file-log.ts');

/** A process of its own that writes numbered lines, and says on its output how far it has come. */
function writer(directory: string, name: string, count: number, maxBytes = 0): ChildProcess {
  const code = `
    import { createFileLog } from ${JSON.stringify(source)};
    import { systemClock as clock } from ${JSON.stringify(join(import.meta.dirname, '../../base/clock.ts'))};
    const log = createFileLog({
      directory: ${JSON.stringify(directory)}, maxBytes: ${maxBytes}, build: 'test', stderr: () => undefined, clock,
    });
    for (let line = 0; line < ${count}; line += 1) {
      log.info('written', { writer: ${JSON.stringify(name)}, line });
      process.stdout.write(line + '\\n');
      await clock.sleep(0);
    }`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'agent-log-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The numbers that a writer has left in all files, in order. */
function linesOf(directory: string, name: string): number[] {
  const lines = readdirSync(directory).flatMap(file => readFileSync(join(directory, file), 'utf8').split('\n'));
  const found = lines.flatMap(line => new RegExp(`^I.* written writer=${name} line=(\\d+)$`).exec(line)?.[1] ?? []);
  return found.map(Number).toSorted((one, other) => one - other);
}

test('has the last lines of a killed process on disk', async () => {
  const directory = folder();
  const child = writer(directory, 'a', 100_000);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    if (said.length > 1000) child.kill('SIGKILL');
  });
  await once(child, 'exit');
  const last = Number(said.split('\n').at(-2));
  const lines = linesOf(directory, 'a');
  expect(lines.slice(0, last + 1)).toEqual(Array.from({ length: last + 1 }, (_, line) => line));
});

test('loses no line of two processes that write at once, and mixes none', async () => {
  const directory = folder();
  const children = ['a', 'b'].map(name => writer(directory, name, 300));
  for (const child of children) child.stdout?.resume();
  await Promise.all(children.map(child => once(child, 'exit')));
  const all = Array.from({ length: 300 }, (_, line) => line);
  expect([linesOf(directory, 'a'), linesOf(directory, 'b')]).toEqual([all, all]);
});

test('continues in the new file when another process rotates it', async () => {
  const directory = folder();
  const children = ['a', 'b'].map(name => writer(directory, name, 300, 6000));
  for (const child of children) child.stdout?.resume();
  await Promise.all(children.map(child => once(child, 'exit')));
  for (const name of ['a', 'b']) expect(linesOf(directory, name).at(-1)).toBe(299);
});
