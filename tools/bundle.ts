import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');

/** CommonJS packages inside an ESM bundle need require, __dirname and __filename. */
const commonJs = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);
const { dirname: __dirname, filename: __filename } = import.meta;`;

export interface BundledProgram {
  /** One ES module that needs only Node.js. */
  code: string;
  /** All source files, relative to the root of the project. */
  inputs: string[];
}

/** Bundles a program and its imports into one ES module, reproducibly in any folder. */
export async function bundled(source: string, define: Record<string, string> = {}): Promise<BundledProgram> {
  const { outputFiles, metafile } = await build({
    entryPoints: [source],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    outfile: 'main.mjs',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    charset: 'utf8',
    // Optional native code of the SSH library.
    external: ['cpu-features'],
    define,
    banner: { js: commonJs },
    logLevel: 'silent',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs).sort() };
}

/** The same as a file. */
export async function bundle(source: string, outfile: string, define: Record<string, string> = {}): Promise<void> {
  const { code } = await bundled(source, define);
  await mkdir(dirname(outfile), { recursive: true });
  await writeFile(outfile, code);
}
