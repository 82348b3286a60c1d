import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';

/** Drive C of a simulated host, read and written from Linux. */
export class Drive {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** The Linux path of `C:\…`; as on Windows the case of names does not matter. */
  path(windowsPath: string): string {
    if (!/^c:\\/i.test(windowsPath)) throw new Error(`${windowsPath} is not a path on drive C`);
    return windowsPath.slice(3).split('\\').filter(Boolean).reduce(step, this.root);
  }

  exists(windowsPath: string): boolean {
    return existsSync(this.path(windowsPath));
  }

  /** Undefined when the file does not exist. */
  read(windowsPath: string): string | undefined {
    const path = this.path(windowsPath);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  /** Names in a folder; none when it does not exist. */
  list(windowsPath: string): string[] {
    const path = this.path(windowsPath);
    return existsSync(path) && statSync(path).isDirectory() ? readdirSync(path).sort() : [];
  }

  /** Replaces the file and makes its folder. Never writes in place: other hosts may share the file. */
  async write(windowsPath: string, content: string | Uint8Array): Promise<void> {
    await writeFile(await this.#room(windowsPath), content);
  }

  async copyIn(file: string, windowsPath: string): Promise<void> {
    await copyFile(file, await this.#room(windowsPath), constants.COPYFILE_FICLONE);
  }

  /** A file or a folder with all it holds; absent is fine. */
  async remove(windowsPath: string): Promise<void> {
    await rm(this.path(windowsPath), { recursive: true, force: true });
  }

  async #room(windowsPath: string): Promise<string> {
    const path = this.path(windowsPath);
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    return path;
  }
}

function step(folder: string, name: string): string {
  const exact = join(folder, name);
  if (existsSync(exact) || !existsSync(folder)) return exact;
  return join(folder, readdirSync(folder).find(entry => entry.toLowerCase() === name.toLowerCase()) ?? name);
}
