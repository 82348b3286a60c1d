import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Rewrites package-lock.json without download addresses, so that it works with any mirror of the registry. If a mirror lacks
 * the builds of a package for other operating systems, npm omits them and `npm ci` fails. They are optional and never
 * installed here, so an entry without a checksum replaces them.
 */
interface Entry {
  version?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}
type Packages = Record<string, Entry>;

export function complete(packages: Packages): Packages {
  const entries = Object.entries(packages).map(([path, entry]) => [path, withoutAddress(entry)] as const);
  const absent = entries.flatMap(([, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => packages[`node_modules/${name}`] === undefined)
      .map(([name, version]) => [`node_modules/${name}`, otherPlatform(name, version)] as const),
  );
  return Object.fromEntries([...entries, ...absent].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function withoutAddress(entry: Entry): Entry {
  const rest = { ...entry };
  delete rest.resolved;
  return rest;
}

function otherPlatform(name: string, version: string): Entry {
  const systems = [
    'aix',
    'android',
    'darwin',
    'freebsd',
    'linux',
    'netbsd',
    'openbsd',
    'openharmony',
    'sunos',
    'win32',
  ];
  const os = systems.find(system => name.includes(system)) ?? 'none';
  const cpu = ['arm64', 'arm', 'ia32', 'x64', 'ppc64', 'riscv64', 's390x', 'wasm32', 'loong64', 'mips64el'].find(item =>
    name.includes(item),
  );
  const libc = name.includes('musl') ? { libc: ['musl'] } : {};
  return {
    version: version.replace(/^[\^~]/, ''),
    dev: true,
    optional: true,
    os: [os],
    ...(cpu && { cpu: [cpu] }),
    ...libc,
  };
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const path = join(root, 'package-lock.json');
  execFileSync('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
  });
  const lock = JSON.parse(await readFile(path, 'utf8')) as { packages: Packages };
  await writeFile(path, `${JSON.stringify({ ...lock, packages: complete(lock.packages) }, undefined, 2)}\n`);
}
