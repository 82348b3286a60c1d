import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Runs the work while no other process of this machine runs work under the same lock file. A process that dies gives it up. */
export async function exclusively<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lockFile), { recursive: true });
  const release = await hold(lockFile);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** The lock belongs to a child that lives until its standard input ends, which it also does when this process is killed. */
function hold(lockFile: string): Promise<() => Promise<void>> {
  const child = spawn('flock', ['--timeout', '600', lockFile, 'sh', '-c', 'echo held; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', error =>
      reject(new Error('the program flock (package util-linux) is missing', { cause: error })),
    );
    child.once('close', resolve);
  });
  return new Promise((resolve, reject) => {
    ended.then(
      code => reject(new Error(`no lock on ${lockFile} within ten minutes (flock ended with ${code})`)),
      reject,
    );
    child.stdout.once('data', () =>
      resolve(async () => {
        child.stdin.end();
        await ended;
      }),
    );
  });
}
