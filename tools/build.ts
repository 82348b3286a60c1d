import { execFileSync } from 'node:child_process';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { sourceVersion } from '../src/cli/version.ts';

/** Bundles the command line into one file that needs nothing but Node.js. */
const root = join(import.meta.dirname, '..');
const outfile = join(root, 'dist', 'wmco.mjs');
const version = process.env['WMCO_VERSION'] ?? sourceVersion();

await build({
  entryPoints: [join(root, 'src/bin/wmco.ts')],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // Native code that makes SSH a little faster where it is there; without it there is another way.
  external: ['cpu-features'],
  define: {
    "process.env['WMCO_VERSION']": JSON.stringify(version),
    'process.env.WMCO_VERSION': JSON.stringify(version),
  },
  // CommonJS packages inside an ESM bundle still call require for built-in modules.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
});
await chmod(outfile, 0o755);
const { size } = await stat(outfile);
console.log(`${outfile}: ${Math.ceil(size / 1024)} KB, version ${version}`);
console.log(execFileSync(process.execPath, [outfile, 'version'], { encoding: 'utf8' }).trim());
