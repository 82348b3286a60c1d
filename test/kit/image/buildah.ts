import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Guard } from '../cluster/component.ts';
import { ensurePrograms } from '../debian-package.ts';

const run = promisify(execFile);

/** Programs for images, with storage of their own: the machine's images and containers are neither used nor changed. */
export interface ImageTools extends AsyncDisposable {
  /** For files of the test; deleted with the storage. */
  readonly folder: string;
  readonly buildah: (...words: string[]) => Promise<string>;
  readonly skopeo: (...words: string[]) => Promise<string>;
  /** Forgets all images, as on a machine that has never seen them. */
  readonly forget: () => void;
}

/** Debian's buildah and skopeo; installs them as root. Everything ends with this process, also when it is killed. */
export function imageTools(): ImageTools {
  ensurePrograms('/usr/bin/buildah', '/usr/bin/skopeo');
  const folder = mkdtempSync(join(tmpdir(), 'wmco-image-'));
  const guard = new Guard(folder);
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  let storages = 1;
  const storageOf = () => join(folder, `storage-${storages}`);
  const inOwnMounts = async (program: string, words: readonly string[]) => {
    // What they remember about registries in a folder that no flag changes.
    const script = 'mkdir -p /var/lib/containers && mount -t tmpfs tmpfs /var/lib/containers && exec "$@"';
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: folder, TMPDIR: temporary };
    const running = run('unshare', ['--mount', 'sh', '-c', script, 'sh', program, ...words], {
      env,
      timeout: 120_000,
      maxBuffer: 64 << 20,
    });
    guard.watch(running.child.pid ?? 0);
    return (await running).stdout.trim();
  };
  return {
    folder,
    buildah: (...words) => {
      const flags = ['--root', storageOf(), '--runroot', `${storageOf()}-run`, '--storage-driver', 'vfs'];
      return inOwnMounts('buildah', [...flags, ...words]);
    },
    skopeo: (...words) => inOwnMounts('skopeo', words),
    forget: () => {
      for (const name of [storageOf(), `${storageOf()}-run`]) rmSync(name, { recursive: true, force: true });
      storages += 1;
    },
    [Symbol.asyncDispose]: () => guard.release(),
  };
}
