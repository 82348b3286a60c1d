import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { AppError } from '#base/errors.ts';
import { unwritableError } from '../output.ts';

/** The temporary folder of a sandbox, and the files that the user chose. */
export interface SandboxFiles extends AsyncDisposable {
  folder: string;
  kubeconfig: string;
  logFile: string;
  log(line: string): void;
  writeKubeconfig(text: string): Promise<void>;
}

export interface SandboxFilePaths {
  kubeconfig: string | undefined;
  log: string | undefined;
}

/** Removes the folder and the kubeconfig when the process exits, unless it is killed. A log that the user chose stays. */
export async function openSandboxFiles(paths: SandboxFilePaths): Promise<SandboxFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-sandbox-'));
  const kubeconfig = paths.kubeconfig === undefined ? join(folder, 'kubeconfig') : resolve(paths.kubeconfig);
  const logFile = paths.log === undefined ? join(folder, 'operator.log') : resolve(paths.log);
  let hasKubeconfig = false;
  const removeSync = () => {
    if (hasKubeconfig) rmSync(kubeconfig, { force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', removeSync);
  try {
    const log = await openLog(logFile);
    return {
      folder,
      kubeconfig,
      logFile,
      log: log.write,
      writeKubeconfig: async text => {
        await writeFile(kubeconfig, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
          throw (error as NodeJS.ErrnoException).code === 'EEXIST'
            ? existingFile(kubeconfig)
            : unwritableError(kubeconfig, error);
        });
        hasKubeconfig = true;
      },
      [Symbol.asyncDispose]: async () => {
        await log.close();
        if (hasKubeconfig) await rm(kubeconfig, { force: true });
        await rm(folder, { recursive: true, force: true });
        process.off('exit', removeSync);
      },
    };
  } catch (error) {
    removeSync();
    process.off('exit', removeSync);
    throw error;
  }
}

/** It could be the kubeconfig of a real cluster. */
function existingFile(path: string): AppError {
  return new AppError('OUTPUT_UNWRITABLE', `${path}: the file exists`, {
    remedy: 'Choose a path that does not exist: the sandbox removes the file at its end.',
  });
}

async function openLog(path: string): Promise<{ write: (line: string) => void; close: () => Promise<void> }> {
  const stream = createWriteStream(path, { mode: 0o600 });
  const opened = Promise.withResolvers<void>();
  let failure: AppError | undefined;
  stream.once('open', () => opened.resolve());
  // A full disk must not stop the sandbox.
  stream.on('error', error => {
    failure = unwritableError(path, error);
    opened.reject(failure);
  });
  await opened.promise;
  return {
    write: line => {
      if (failure === undefined) stream.write(line);
    },
    close: async () => {
      stream.end();
      if (failure === undefined) await finished(stream).catch(() => undefined);
    },
  };
}
