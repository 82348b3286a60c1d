import { execFileSync } from 'node:child_process';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sourceVersion } from '../src/cli/version.ts';
import { bundle } from './bundle.ts';

/** Bundles the command line into one file that needs only Node.js. */
const root = join(import.meta.dirname, '..');
const outfile = join(root, 'dist', 'wmco.mjs');
const version = process.env['WMCO_VERSION'] ?? sourceVersion();

await bundle(join(root, 'src/bin/wmco.ts'), outfile, {
  "process.env['WMCO_VERSION']": JSON.stringify(version),
  'process.env.WMCO_VERSION': JSON.stringify(version),
});
await chmod(outfile, 0o755);
const { size } = await stat(outfile);
console.log(`${outfile}: ${Math.ceil(size / 1024)} KB, version ${version}`);
console.log(execFileSync(process.execPath, [outfile, 'version'], { encoding: 'utf8' }).trim());
