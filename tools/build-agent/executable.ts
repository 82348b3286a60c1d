import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeSignature } from './signature.ts';
import { type About, replaceVersionResource } from './version-resource.ts';

const run = promisify(execFile);

export interface Parts {
  /** One ES module. */
  code: string;
  /** Path of node.exe. */
  node: string;
  /** Paths of the files for `getRawAsset`. */
  assets: Readonly<Record<string, string>>;
  about: About;
}

/** Builds `main.exe` in an empty folder and returns its path. */
export async function buildExecutable(parts: Parts, folder: string): Promise<string> {
  const settings = {
    // Relative names only: the path of the main file becomes part of the .exe.
    main: 'main.mjs',
    mainFormat: 'module',
    output: 'main.exe',
    executable: parts.node,
    disableExperimentalSEAWarning: true,
    // Both would be for Linux, where the build runs.
    useCodeCache: false,
    useSnapshot: false,
    // NODE_OPTIONS on the host is for other programs.
    execArgvExtension: 'none',
    assets: parts.assets,
  };
  await writeFile(join(folder, 'main.mjs'), parts.code);
  await writeFile(join(folder, 'sea.json'), JSON.stringify(settings));
  await run(process.execPath, ['--build-sea', 'sea.json'], { cwd: folder, timeout: 120_000 });
  const path = join(folder, 'main.exe');
  const exe = removeSignature(await readFile(path));
  replaceVersionResource(exe, parts.about);
  await writeFile(path, exe);
  return path;
}
