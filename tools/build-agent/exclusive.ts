import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Runs the function while holding a lock on the file across processes. A process that dies releases it. */
export async function withLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(lockFile), { recursive: true });
  const release = await acquire(lockFile);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** The lock belongs to a child that exits when its standard input ends, also when this process is killed. */
function acquire(lockFile: string): Promise<() => Promise<void>> {
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
      code => reject(new Error(`no lock on ${lockFile} within ten minutes (flock exited with ${code})`)),
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
