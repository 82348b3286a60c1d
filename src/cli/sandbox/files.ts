import { createWriteStream, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import type { AppError } from '#base/errors.ts';
import { unwritable } from '../output.ts';

/** The private folder of a sandbox, and files that its user has asked for. */
export interface SandboxPlace extends AsyncDisposable {
  folder: string;
  /** What KUBECONFIG is to be. */
  kubeconfig: string;
  /** Where the operator logs to. */
  logFile: string;
  log(line: string): void;
  writeKubeconfig(text: string): Promise<void>;
}

export interface PlaceWish {
  kubeconfig: string | undefined;
  log: string | undefined;
}

/** Everything in the folder goes with it, however the process ends, unless it is killed. What the user has named stays, but for a kubeconfig of a cluster that is gone. */
export async function openPlace(spec: PlaceWish): Promise<SandboxPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-sandbox-'));
  const kubeconfig = spec.kubeconfig === undefined ? join(folder, 'kubeconfig') : resolve(spec.kubeconfig);
  const logFile = spec.log === undefined ? join(folder, 'operator.log') : resolve(spec.log);
  let hasKubeconfig = false;
  const removeNow = () => {
    if (hasKubeconfig) rmSync(kubeconfig, { force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', removeNow);
  try {
    const log = await openLog(logFile);
    return {
      folder,
      kubeconfig,
      logFile,
      log: log.write,
      writeKubeconfig: async text => {
        await writeFile(kubeconfig, text, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
          throw unwritable(kubeconfig, error);
        });
        hasKubeconfig = true;
      },
      [Symbol.asyncDispose]: async () => {
        await log.close();
        if (hasKubeconfig) await rm(kubeconfig, { force: true });
        await rm(folder, { recursive: true, force: true });
        process.off('exit', removeNow);
      },
    };
  } catch (error) {
    removeNow();
    process.off('exit', removeNow);
    throw error;
  }
}

async function openLog(path: string): Promise<{ write: (line: string) => void; close: () => Promise<void> }> {
  const stream = createWriteStream(path, { mode: 0o600 });
  const opened = Promise.withResolvers<void>();
  let trouble: AppError | undefined;
  stream.once('open', () => opened.resolve());
  // A disk that becomes full must not end the sandbox.
  stream.on('error', error => {
    trouble = unwritable(path, error);
    opened.reject(trouble);
  });
  await opened.promise;
  return {
    write: line => {
      if (trouble === undefined) stream.write(line);
    },
    close: async () => {
      stream.end();
      if (trouble === undefined) await finished(stream).catch(() => undefined);
    },
  };
}
